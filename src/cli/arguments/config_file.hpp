// Switches for every call can be set in a file, one "NAME = value" a line: those at the top for every command that has
// the switch, those behind "[COMMAND]" for that command. Typed switches win over the file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lapilli::cli {

inline constexpr const char* kConfigRule =
    R"(Switches may stand in a file, one a line ("beam = 1", "device = NVIDIA", "quiet = true"; those of a single command
behind a line "[translate]"): the file that --config or LAPILLI_CONFIG names, else lapilli/config.toml in XDG_CONFIG_HOME
(~/.config; Windows: APPDATA) if it is there. What is typed wins.
)";

// The file's switches as command-line arguments.
struct Configured {
  std::string path;                    // "" if there is no file
  std::vector<std::string> arguments;  // "--beam=1"
  std::string error;                   // why the file cannot be used, with its name
  int code = 0;                        // the program's exit code in that case
};

// `typed`: the arguments, in which --config may name the file. Omits switches that were typed, or exclude one that was.
Configured read_config(const CLI::App& app, const CLI::App& command, const std::vector<std::string>& typed);

}  // namespace lapilli::cli
