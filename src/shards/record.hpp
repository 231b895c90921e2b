// The record of a finished shard: a line of JSON beside its output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shards/array_task.hpp"
#include "shards/shard.hpp"

namespace lapilli::shards {

using Settings = std::vector<std::pair<std::string, std::string>>;

// The settings as a record holds them: each name once, with all its values, and none that is empty.
Settings settled(const Settings& given);

// An input's part in a shard.
struct InputRecord {
  std::string name;
  Piece piece;
};

struct Record {
  Shard shard;
  std::string output;  // the name of its file in the folder; "": its files are listed
  std::vector<std::string> files;
  uint64_t rows_in = 0, rows_out = 0, rejected = 0, bytes = 0;
  std::string output_hash;
  std::string inputs_hash;  // of the names, sizes and samples of all shards' inputs
  std::vector<InputRecord> inputs;
  std::string model_hash;
  Settings settings;  // all that its rows depend on, besides the inputs and the model
  std::string version, device, host;
  double seconds = 0;
};

// The name of the first difference between the runs of two shards; "": they can be joined.
std::string other_run(const Record& a, const Record& b);

// The name of the first input of which two runs of one shard had another part; "": there is none.
std::string other_input(const Record& a, const Record& b);

std::string json_of(const Record& record);  // a line
std::optional<Record> record_in(std::string_view json);

// The folder's own file: how its shards are counted.
inline constexpr const char* kCountingFile = "shards.json";
std::string json_of(const Counting& counting);
std::optional<Counting> counting_in(std::string_view json);

// A record lists the files of its shard, which may be millions.
inline constexpr uint64_t kMostRecordBytes = uint64_t{1} << 30;

inline constexpr const char* kRecordEnding = ".json";
inline constexpr const char* kRejectedEnding = ".rejected.jsonl";
inline constexpr const char* kLockEnding = ".lock";

}  // namespace lapilli::shards
