// lab_caps - what Lapilli finds on a device, as the JSON that `lab_pipelines -c` and `--caps FILE` read. Made of
// src/vulkan and src/base alone, so that a cross compiler has little to do.
#include <cstdio>

#include "vulkan/caps/capabilities_json.hpp"
#include "vulkan/device/device.hpp"

int main() {
  const auto devices = lapilli::vulkan::list_devices({});
  if (!devices || devices->empty())
    return std::fprintf(stderr, "lab_caps: %s\n", devices ? "no device" : devices.error().message.c_str()), 1;
  const auto* found = &devices->front();
  for (const auto& d : *devices)
    if (d.chosen) found = &d;
  std::puts(lapilli::to_json(found->caps).c_str());
}
