// Manual pages, for man.
#pragma once

#include <string>

#include "cli/arguments/command_tables.hpp"

namespace lapilli::cli {

// The pages' names: "lapilli" of the program, "lapilli-translate" of a command.
std::string manual_name(const CommandTable& table, const CommandInfo& command);
// The page as man's macros (man(7)).
std::string manual_page(const CommandTable& table, const CommandInfo& command);

}  // namespace lapilli::cli
