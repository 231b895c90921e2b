// The device as the driver describes it, for pages that show it.
#pragma once

#include <cstdint>
#include <string>

#include "lapilli/lapilli.hpp"

namespace lapilli::server {

struct DeviceFacts {
  std::string name, driver;
  std::string type;  // "cpu", "integrated", "discrete", "virtual" or "other"
  uint64_t heap_bytes = 0;
};

// The facts of the device that these options choose; empty if none is found.
DeviceFacts read_device_facts(const DeviceOptions& options);

}  // namespace lapilli::server
