// The program's commands and switches as one table, from which --help, the manual and the shells' completions are made.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace lapilli::cli {

struct SwitchInfo {
  std::vector<std::string> names;  // "-m", "--model"; the name of an argument without a switch
  std::string value;               // "DIR"; "" if it takes none
  std::string description;
  bool positional = false;
};

struct CommandInfo {
  std::string name, description, footer;
  std::vector<SwitchInfo> switches;
};

struct CommandTable {
  CommandInfo program;                // its switches are allowed behind every command, too
  std::vector<CommandInfo> commands;  // without hidden ones
};
CommandTable command_table(const CLI::App& app);

// A command's help with the program's switches below its own.
std::shared_ptr<CLI::Formatter> help_formatter();

}  // namespace lapilli::cli
