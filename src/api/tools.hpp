// What the program's inspect, devices, plan and bench need from inside the library, and no application does. Plain
// types only, so that a file may include this beside lapilli.hpp.
#pragma once

#include <string>
#include <vector>

namespace lapilli {
namespace vulkan {
struct DeviceInfo;
}

namespace tools {

// A text for stdout, or an error: `status` is a lapilli_status and `text` its message.
struct Outcome {
  int status = 0;
  std::string text;
};

// Every device that was seen, as a JSON array or as a table for people.
std::string devices_json(const std::vector<vulkan::DeviceInfo>& devices);
Outcome devices_table(const std::string& select, const std::string& caps);

// Family, shapes, parameters, stored type and memory of a model directory; empty: the bundled one. Reads config.json
// and the headers of the weights; needs no device.
Outcome inspect(const std::string& directory, bool json);

}  // namespace tools
}  // namespace lapilli
