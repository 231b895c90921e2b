// A device's memory and its use, for people. No Vulkan types here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vulkan/device/device.hpp"

namespace lapilli::vulkan {

struct MemoryHeapReport {
  uint64_t bytes = 0;
  bool device_local = false;
  bool main = false;  // used for weights and arenas
};
struct MemoryTypeReport {
  uint32_t heap = 0;
  std::string kind;  // "device-local, host-visible, coherent, cached"; "" if none applies
};
struct MemoryUseReport {
  const char* use = "";
  std::vector<uint32_t> types;  // best first
};
struct MemoryReport {
  std::vector<MemoryHeapReport> heaps;
  std::vector<MemoryTypeReport> types;
  std::vector<MemoryUseReport> uses;
  uint64_t left = 0;                // may still be allocated from the main heap
  bool budget_from_driver = false;  // by the driver; otherwise by the heap's size
};
MemoryReport memory_report(const Device& device);

}  // namespace lapilli::vulkan
