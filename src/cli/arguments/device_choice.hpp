// The options that say on which device a command runs, and which devices they name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

// The library's word for the device that a scheduler assigned to this process, else the best one.
inline constexpr const char* kAssigned = "assigned";

// --device and --require-gpu. Sets `select` to kAssigned, which it keeps where no device is named.
void add_device_choice(CLI::App& command, std::string& select, bool& require_gpu);
// --device alone, for commands that tell of devices.
void add_device_choice(CLI::App& command, std::string& select);

// "0,1" and "all" name several, which share the lines: each by its index. One stays as it was given.
struct ChosenDevices {
  std::vector<std::string> selects;
  std::string told;  // of several: their names, and why they were chosen
};
Result<ChosenDevices> chosen_devices(const std::string& select, const std::string& caps);

}  // namespace lapilli::cli
