// Writes a file under a temporary name until it is complete, with a journal beside it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/files/journal.hpp"
#include "cli/output.hpp"

namespace lapilli::cli {

// An error message if the folder of an output file does not exist, as it is more likely mistyped than wanted; "" if it
// does.
std::string missing_folder(const std::string& file);

// A contradiction between --suffix and -o; "" if there is none.
std::string wrong_suffix(const std::string& suffix, const std::string& output);

// A file's new name is on the disk only once its folder is.
void sync_folder(const std::string& path);

class TargetFile : public Sink {
 public:
  explicit TargetFile(std::string name);
  TargetFile(const TargetFile&) = delete;
  TargetFile& operator=(const TargetFile&) = delete;
  ~TargetFile() override;

  // An obstacle to writing, found before anything is loaded; "" if there is none. Inputs are never overwritten.
  [[nodiscard]] std::string obstacle(bool force, bool resume, const std::vector<std::string>& inputs = {}) const;

  // Creates the folder if it does not exist. Gives the exit code.
  int begin();
  // The same with a journal. With `resume`, `from` is where to continue: the remains of an earlier run with the same
  // identity. Those with another identity are an error that names the difference, unless `force` starts over.
  int begin(const Identity& identity, bool resume, bool force, Journal& from);

  int write(std::string_view text) override;
  // Replaces the first bytes of what was written; not of a device or a pipe.
  int replace_head(std::string_view head);
  // False: a device or a pipe, which keeps nothing that could be replaced.
  [[nodiscard]] bool has_head() const { return !direct_; }
  // Writes the journal at most once a second; later work is repeated after a crash.
  int keep(const std::string& records) override;
  [[nodiscard]] uint64_t bytes() const override { return bytes_; }

  // Ends an incomplete output: finished work is kept to be resumed. False: there was none, and nothing is left.
  bool stop();
  // Ends a complete output: the file gets its name. The journal stays until forget_journal(), so that a run of many
  // files knows which of them it wrote.
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
  bool direct_;  // a device or a pipe, which has no temporary name
  int file_ = -1, journal_ = -1;
  uint64_t bytes_ = 0;
  std::string pending_;  // records since `kept_`
  std::chrono::steady_clock::time_point kept_{};
};

}  // namespace lapilli::cli
