// Files named by a list (--files-from), one a line, which may grow while it is read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/files/line_reader.hpp"

namespace lapilli::cli {

class FileList {
 public:
  // `name`: of a file or a pipe; "-": standard input. Gives the exit code; errors go to stderr.
  int open(const std::string& name);
  // Waits for a name, then gives those that are there; none: the list is over, or the program was interrupted.
  std::vector<std::string> next();
  // The exit code at its end.
  [[nodiscard]] int finish() const;

 private:
  std::string name_;
  std::unique_ptr<LineReader> reader_;
};

// Nothing but files and folders can be listed. Gives the exit code.
int check_listed(const std::string& name);

// All names of a list, behind those in `names`.
int read_file_list(const std::string& list, std::vector<std::string>& names);

// True if names may come later.
bool is_growing(const std::string& list);

inline constexpr const char* kFilesFromHelp =
    "Read the names of further inputs from FILE, one a line; - is standard input, whose files are worked on as their "
    "names come, with one load of the model";

// Where the list is read to its end first.
inline constexpr const char* kAllFilesFromHelp =
    "Read the names of further inputs from FILE, one a line; - is standard input";

}  // namespace lapilli::cli
