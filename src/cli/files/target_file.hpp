// A file that is written: under another name until it is complete, with a journal beside it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/files/journal.hpp"
#include "cli/output.hpp"

namespace lapilli::cli {

// What is wrong with the name of a file to be written: its folder, which is not there, is more likely mistyped than
// wanted.
// "": nothing is.
std::string missing_folder(const std::string& file);

// What --suffix and -o contradict each other in; "": nothing.
std::string wrong_suffix(const std::string& suffix, const std::string& output);

class TargetFile : public Sink {
 public:
  explicit TargetFile(std::string name);
  TargetFile(const TargetFile&) = delete;
  TargetFile& operator=(const TargetFile&) = delete;
  ~TargetFile() override;

  // What stands in the way, before anything is loaded; "" if nothing does. None of the inputs is ever written over.
  [[nodiscard]] std::string obstacle(bool force, bool resume, const std::vector<std::string>& inputs = {}) const;

  // The folder is made if it is not there. Gives the exit code.
  int begin();
  // The same with a journal. With `resume`, `from` is where to go on: what is left of an earlier run with the same
  // identity; what has another one is an error that says what differs, unless `force` begins anew.
  int begin(const Identity& identity, bool resume, bool force, Journal& from);

  int write(std::string_view text) override;
  // Once a second at most; what is not kept is done again.
  int keep(const std::string& records) override;
  [[nodiscard]] uint64_t bytes() const override { return bytes_; }

  // Not all is written: what is done is kept to be resumed. False: nothing was, and nothing is left.
  bool stop();
  // All is written: the file gets its name. The journal stays until forget_journal(), so that a run of many files knows
  // which of them it wrote.
  int finish();
  void forget_journal() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  int open_part(bool append);
  int write_journal_anew(const Journal& journal);
  int resume(const Identity& identity, Journal& from, std::string& why);
  int fail(const std::string& name);
  void close();

  std::string name_;
  bool failed_ = false, any_kept_ = false;
  bool direct_;  // a device or a pipe, which has no other name
  int file_ = -1, journal_ = -1;
  uint64_t bytes_ = 0;
  std::string pending_;  // records since `kept_`
  std::chrono::steady_clock::time_point kept_{};
};

}  // namespace lapilli::cli
