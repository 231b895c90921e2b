// Makes the scripts by which shells complete the program's commands, switches, files and directories.
#pragma once

#include <string>

#include "cli/arguments/command_tables.hpp"

namespace lapilli::cli {

struct Shell {
  const char* name;  // "bash"
  const char* file;  // path of the installed script, below share/
  std::string (*script)(const CommandTable& table);
};
inline constexpr size_t kShellCount = 3;
extern const Shell kShells[kShellCount];

}  // namespace lapilli::cli
