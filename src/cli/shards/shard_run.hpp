// One shard of a run: which one it is, its files in the folder, its lock, and the record at its end.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/files/journal.hpp"
#include "cli/files/target_file.hpp"
#include "cli/shards/rejected_rows.hpp"
#include "cli/shards/shard_arguments.hpp"
#include "shards/lock.hpp"
#include "shards/record.hpp"

namespace lapilli::cli {

class ShardRun {
 public:
  // Finds out which shard it is, and touches nothing. Gives the exit code.
  int choose(const ShardArguments& arguments, const std::string& folder, bool force);
  [[nodiscard]] const shards::Shard& shard() const { return chosen_.shard; }
  // The path of one of its files.
  [[nodiscard]] std::string file(const std::string& ending) const;

  // The name of a file below the folder.
  [[nodiscard]] std::string below(const std::string& path) const;

  // Locks the shard and makes the folder. `planned`: what the record will say, as far as it is known. `done`: an
  // earlier run finished it, and `code` is what that run ended with.
  int begin(const shards::Record& planned, bool quiet, bool& done);
  // The rows that an earlier, unfinished run rejected stay. If there are too many already, the shard stops again.
  int begin_rows(uint64_t kept);
  // The same where inputs have outputs of their own: what was rejected of finished ones stays.
  int begin_files();
  [[nodiscard]] RejectedRows& rejected() { return rejected_; }
  // Says that there are too many; gives the exit code.
  int stop_at_rejected() const;

  // Why an output of the shard cannot be written; "": it can. Remains of an earlier run are gone on with, or lost.
  [[nodiscard]] std::string obstacle(const TargetFile& target, const std::vector<std::string>& inputs = {}) const;

  // Writes the record, once the output has its name.
  int finish(shards::Record record);
  // Removes the lock, once the journals are gone too.
  void leave();

 private:
  int count_shards();
  static std::string other_run(const shards::Record& found, const shards::Record& planned);
  void forget_journals(const shards::Record& found) const;
  int skip(const shards::Record& found, const shards::Record& planned, bool quiet, bool& done);

  shards::ChosenShard chosen_;
  bool counted_ = false;  // the folder says how its shards are counted
  std::string folder_;
  bool force_ = false;
  bool anew_ = false;  // its record told of outputs that are not in order
  std::optional<uint64_t> max_rejected_;
  std::optional<shards::Lock> lock_;
  RejectedRows rejected_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Writes a small file at once, first as `fresh`: it is there whole, or not at all. Gives the exit code.
int write_small_file(const std::string& path, const std::string& fresh, const std::string& text);
// Its content; "" if it cannot be read.
std::string small_file(const std::string& path);
// The size and hash of a finished output, and its lines.
void measure_output(const std::string& path, shards::Record& record);

}  // namespace lapilli::cli
