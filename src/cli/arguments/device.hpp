// The options that say on which device a command runs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace lapilli::cli {

// The library's word for the device that a scheduler assigned to this process, else the best one.
inline constexpr const char* kAssigned = "assigned";

// --device and --require-gpu. Sets `select` to kAssigned, which it keeps where no device is named.
void add_device_choice(CLI::App& command, std::string& select, bool& require_gpu);
// --device alone, for commands that tell of devices.
void add_device_choice(CLI::App& command, std::string& select);

}  // namespace lapilli::cli
