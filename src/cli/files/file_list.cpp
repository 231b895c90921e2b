#include "cli/files/file_list.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/path.hpp"
#include "cli/exit_codes.hpp"
#include "cli/output.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

constexpr size_t kLongestListed = size_t{1} << 16;
constexpr size_t kListedAtATime = 64;

}  // namespace

int FileList::open(const std::string& name) {
  name_ = name == "-" ? "standard input" : name;
  TextInput file(name == "-" ? InputFile::standard_input() : InputFile::open(name));
  if (!file.ok()) return complain(exit_input, "--files-from " + name + ": " + std::strerror(errno));
  reader_ = std::make_unique<LineReader>(std::move(file), kLongestListed, true);
  return exit_ok;
}

std::vector<std::string> FileList::next() {
  std::vector<std::string> names;
  while (names.empty()) {
    std::vector<Line> lines = reader_->read(kListedAtATime);
    if (lines.empty()) break;
    for (Line& line : lines)
      if (!line.text.empty()) names.push_back(std::move(line.text));
  }
  return names;
}

int FileList::finish() const {
  const std::string why = reader_->error() != 0 ? std::strerror(reader_->error()) : reader_->refusal();
  return why.empty() ? int{exit_ok} : complain(exit_input, "--files-from: " + name_ + ": " + why);
}

int check_listed(const std::string& name) {
  errno = ENOENT;
  if (name != "-" && (is_readable_file(name) || directory_exists(name))) return exit_ok;
  return complain(exit_input, "--files-from: " + name + ": " + std::strerror(errno));
}

int read_file_list(const std::string& list, std::vector<std::string>& names) {
  FileList files;
  if (const int code = files.open(list)) return code;
  for (auto some = files.next(); !some.empty(); some = files.next())
    for (std::string& name : some) {
      if (const int code = check_listed(name)) return code;
      names.push_back(std::move(name));
    }
  return files.finish();
}

bool is_growing(const std::string& list) { return is_pipe(list); }

}  // namespace lapilli::cli
