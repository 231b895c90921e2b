#include "cli/run/trace_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/path.hpp"
#include "cli/exit_codes.hpp"
#include "cli/files/target_file.hpp"
#include "cli/output.hpp"

namespace lapilli::cli {

int check_trace(const std::string& file) {
  if (file.empty()) return exit_ok;
  if (directory_exists(file)) return complain(exit_usage, "--trace: " + file + " is a folder");
  if (const std::string missing = missing_folder(file); !missing.empty())
    return complain(exit_usage, "--trace: " + missing);
  if (file_kind(file) == FileKind::other) return exit_ok;  // opening it would show a pipe's reader its end
  std::FILE* const opened = open_stream(file, "ab");
  if (!opened) return complain(exit_output, "--trace: " + file + " cannot be written: " + std::strerror(errno));
  std::fclose(opened);
  return exit_ok;
}

int complain_of_trace(const std::string& why) { return complain(exit_output, "--trace: " + why); }

}  // namespace lapilli::cli
