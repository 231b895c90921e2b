// The rows of a shard that failed, a line of JSON for each, beside its output.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "lapilli/lapilli.h"

namespace lapilli::cli {

struct RejectedRow {
  std::string file;
  uint64_t row = 0;  // the line in the file, from 1
  std::string reason;
};

// True for a failure that is not the row's own: another start, or another node, may do the row.
inline bool passes_with_time(lapilli_status status) {
  return status == LAPILLI_OUT_OF_MEMORY || status == LAPILLI_DEVICE_LOST || status == LAPILLI_TIMEOUT ||
         status == LAPILLI_NO_DEVICE;
}
// Says that such a failure ends the run of a shard; gives the exit code.
int stop_shard(lapilli_status status);

class RejectedRows {
 public:
  // Keeps the first `kept` rows of an earlier run. Gives the exit code.
  int begin(const std::string& path, uint64_t kept, std::optional<uint64_t> most);
  // Keeps all rows of an earlier run, and adds none of them again.
  int begin_again(const std::string& path, std::optional<uint64_t> most);
  int add(const RejectedRow& row);
  // Brings all rows to the disk, before others record that they are done.
  int flush();
  // Removes the file if no row was rejected.
  int finish();
  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] bool are_too_many() const { return most_ && count_ > *most_; }
  [[nodiscard]] bool are_a_failure() const { return count_ > most_.value_or(0); }

 private:
  int fail() const;
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  uint64_t count_ = 0;
  std::set<std::string> known_;  // rows that are not added again
  std::optional<uint64_t> most_;
  bool pending_ = false;
};

// How many lines a file has; the byte behind the first `lines` of them.
struct CountedLines {
  uint64_t lines = 0, end = 0;
};
CountedLines count_lines(const std::string& path, uint64_t most);

}  // namespace lapilli::cli
