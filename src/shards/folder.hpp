// The shards in a folder, as they are joined.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shards/record.hpp"

namespace lapilli::shards {

struct FolderOfShards {
  uint32_t count = 0, first = 0;      // as in Counting
  std::vector<Record> records;        // in order, if there is no problem
  std::vector<std::string> problems;  // the first ones
  std::vector<uint32_t> to_run;       // shards to run again, in order
};

// Reads the records in a folder, and looks for everything that keeps its shards from being joined, but the outputs'
// hashes. Gives an error message if there is no shard at all, or "".
std::string look_into(const std::string& folder, FolderOfShards& found);

// The fault of a finished shard's files in the folder, by its record; "": it can be joined.
std::string wrong_output(const std::string& folder, const Record& record);

// "3,7,12-15": as a scheduler's array is written.
std::string as_array(const std::vector<uint32_t>& numbers, uint32_t first);

}  // namespace lapilli::shards
