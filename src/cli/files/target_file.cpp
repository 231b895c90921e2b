#include "cli/files/target_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/path.hpp"
#include "cli/exit_codes.hpp"
#include "cli/files/output_names.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

constexpr auto kBetweenRecords = std::chrono::seconds(1);

// Gives 0, or errno. A signal does not stop it, so no line is cut in half.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const long written = write_some(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

std::optional<Journal> journal_in(const std::string& name) {
  InputFile file = InputFile::open(name);
  if (!file.ok()) return {};
  std::string text;
  char part[1 << 16];
  for (long got = 0; (got = file.read(part, sizeof part)) != 0;) {
    if (got < 0 && errno != EINTR) return {};
    if (got > 0) text.append(part, static_cast<size_t>(got));
  }
  return read_journal(text);
}

// The first part of a path that stands where a folder is needed and is none; "" if there is none.
std::string file_for_folder(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    const std::string folder = path.substr(0, at);
    if (file_exists(folder) && !directory_exists(folder)) return folder;
  }
  return "";
}

}  // namespace

void sync_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  const int fd = open_to_read(folder.empty() ? "." : folder);
  if (fd < 0) return;
  (void)sync_file(fd);
  close_file(fd);
}

TargetFile::TargetFile(std::string name) : name_(std::move(name)), direct_(file_kind(name_) == FileKind::other) {}

TargetFile::~TargetFile() { close(); }

void TargetFile::close() {
  for (int* fd : {&file_, &journal_}) {
    if (*fd >= 0) close_file(std::exchange(*fd, -1));
  }
}

int TargetFile::fail(const std::string& name) {
  const int why = errno;
  failed_ = true;
  const char* more = journal_ >= 0 ? "; what is done is kept, --resume goes on with it" : "";
  return complain(exit_output, name + " cannot be written: " + std::strerror(why) + more);
}

std::string TargetFile::obstacle(bool force, bool resume, const std::vector<std::string>& inputs) const {
  if (direct_) return resume ? name_ + " is no file, and cannot be resumed" : "";
  for (const std::string& input : inputs)
    if (same_file(input, name_)) return name_ + " is an input; it cannot be the output";
  if (directory_exists(name_)) return name_ + " is a folder";
  if (const std::string file = file_for_folder(name_); !file.empty())
    return file + " is a file, and cannot be the folder of " + name_;
  if (force) return "";
  const bool begun = file_exists(part_of(name_)), journal = file_exists(journal_of(name_));
  if (resume) {
    if (file_exists(name_) && !journal && !begun)
      return name_ + " is there already, and nothing is left of a run to resume; --force writes over it";
    if (begun && !journal && file_size(part_of(name_)) > 0)
      return part_of(name_) + " is left of a run that cannot be resumed; --force begins anew";
    return "";
  }
  if (begun) {
    return part_of(name_) + " is left of an earlier run: " + (journal ? "--resume goes on with it, " : "") +
           "--force begins anew";
  }
  return file_exists(name_) ? name_ + " is there already; --force writes over it" : "";
}

std::string missing_folder(const std::string& file) {
  const std::string folder = folder_of(file);
  if (folder.empty() || directory_exists(folder)) return "";
  return "there is no folder " + folder + " for " + file;
}

std::string wrong_suffix(const std::string& suffix, const std::string& output) {
  if (suffix.find_first_of("/\\") != std::string::npos) return "--suffix goes into a name; it has no / in it";
  if (!suffix.empty() && !output.empty() && !names_folder(output) && !directory_exists(output))
    return "--suffix gives every file its own; behind -o stands a folder then, or say " + output + "/";
  return "";
}

int TargetFile::open_part(bool append) {
  const std::string folder = folder_of(name_);
  if (!folder.empty() && !directory_exists(folder) && !make_directories(folder)) return fail(folder);
  file_ = open_to_write(direct_ ? name_ : part_of(name_), append);
  return file_ >= 0 ? exit_ok : fail(direct_ ? name_ : part_of(name_));
}

int TargetFile::begin() {
  remove_file(journal_of(name_));
  return open_part(false);
}

int TargetFile::begin(const Identity& identity, bool resume_it, bool force, Journal& from) {
  from = {};
  if (direct_) return open_part(false);
  std::string why;
  if (resume_it) {
    if (const int code = resume(identity, from, why); code != exit_ok) return code;
    if (!why.empty() && !force) return complain(exit_usage, why + "; --force begins anew");
    if (!why.empty()) std::fprintf(stderr, "lapilli: %s; it is begun anew\n", why.c_str());
  }
  if (file_ >= 0 || from.complete) return exit_ok;
  from = {};
  from.identity = identity;
  if (const int code = open_part(false)) return code;
  return write_journal_anew(from);
}

int TargetFile::resume(const Identity& identity, Journal& from, std::string& why) {
  if (!file_exists(journal_of(name_))) return exit_ok;
  auto journal = journal_in(journal_of(name_));
  const bool part = file_exists(part_of(name_));
  if (!journal) {
    why = journal_of(name_) + " cannot be read";
  } else if (const std::string other = difference(journal->identity, identity); !other.empty()) {
    why = name_ + " was begun with another " + other;
  } else if (file_size(part ? part_of(name_) : name_) < journal->point.bytes || (!part && !journal->complete)) {
    why = (part ? part_of(name_) : name_) + " is not what its journal says";
  }
  if (!why.empty()) return exit_ok;
  from = std::move(*journal);
  bytes_ = from.point.bytes;
  any_kept_ = true;
  if (from.complete && !part) return exit_ok;
  from.complete = false;  // only the renaming was missing
  if (!resize_file(part_of(name_), bytes_)) return fail(part_of(name_));
  if (const int code = open_part(true)) return code;
  return write_journal_anew(from);
}

// Drops records behind the last point of an earlier run.
int TargetFile::write_journal_anew(const Journal& journal) {
  std::string text = journal_head(journal.identity);
  for (const SavedSegment& segment : journal.segments) text += journal_record(segment);
  if (journal.point.bytes > 0 || journal.point.units > 0 || journal.point.source > 0)
    text += journal_record(journal.point);
  const std::string name = journal_of(name_), fresh = name + ".new";
  const int fd = open_to_write(fresh, false);
  if (fd < 0) return fail(fresh);
  int error = write_all(fd, text);
  if (error == 0) error = sync_file(fd);  // else a power cut may leave an empty one under its name
  close_file(fd);
  errno = error;
  if (error != 0 || !rename_file(fresh, name)) return fail(fresh);
  journal_ = open_to_write(name, true);
  return journal_ >= 0 ? exit_ok : fail(name);
}

int TargetFile::write(std::string_view text) {
  errno = write_all(file_, text);
  if (direct_ && errno == EPIPE) return exit_broken_pipe;
  if (errno != 0) return fail(direct_ ? name_ : part_of(name_));
  bytes_ += text.size();
  return exit_ok;
}

int TargetFile::replace_head(std::string_view head) {
  if (file_ < 0) return exit_ok;                // the resumed output was complete
  const int fd = open_to_lock(part_of(name_));  // does not truncate
  if (fd < 0) return fail(part_of(name_));
  const int error = write_all(fd, head);
  close_file(fd);
  errno = error;
  return error == 0 ? exit_ok : fail(part_of(name_));
}

int TargetFile::keep(const std::string& records) {
  if (journal_ < 0) return exit_ok;
  pending_ += records;
  any_kept_ = true;
  const auto now = std::chrono::steady_clock::now();
  if (now - kept_ < kBetweenRecords) return exit_ok;
  kept_ = now;
  // A record's output must be on the disk before the record.
  errno = sync_file(file_);
  if (errno != 0) return fail(part_of(name_));
  errno = write_all(journal_, std::exchange(pending_, {}));
  return errno == 0 ? exit_ok : fail(journal_of(name_));
}

bool TargetFile::stop() {
  kept_ = {};
  if (!failed_ && !pending_.empty()) (void)keep("");
  close();
  if (direct_ || any_kept_ || bytes_ > 0) return true;
  remove_file(part_of(name_));  // it holds nothing of value
  remove_file(journal_of(name_));
  return false;
}

int TargetFile::finish() {
  if (file_ < 0) return exit_ok;  // the resumed output was complete
  if (direct_) {
    close();
    return exit_ok;
  }
  kept_ = {};
  if (const int code = keep(journal_end())) return code;
  errno = sync_file(file_);
  if (errno != 0) return fail(part_of(name_));
  if (journal_ >= 0) (void)sync_file(journal_);
  close();
  if (!rename_file(part_of(name_), name_)) return fail(name_);
  sync_folder(name_);
  return exit_ok;
}

void TargetFile::forget_journal() const {
  if (!direct_) remove_file(journal_of(name_));
}

}  // namespace lapilli::cli
