// Manual pages, for man.
#pragma once

#include <string>

#include "cli/arguments/command_tables.hpp"

namespace lapilli::cli {

// The page's name: "lapilli" for the program, "lapilli-translate" for a command.
std::string manual_name(const CommandTable& table, const CommandInfo& command);
// The page in man's macros (man(7)).
std::string manual_page(const CommandTable& table, const CommandInfo& command);

}  // namespace lapilli::cli
