// What a device's memory is, and what each use takes of it: for people. No Vulkan type appears here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vulkan/device.hpp"

namespace lapilli::vulkan {

struct MemoryHeapReport {
  uint64_t bytes = 0;
  bool device_local = false;
  bool main = false;  // that weights and arenas come from
};
struct MemoryTypeReport {
  uint32_t heap = 0;
  std::string kind;  // "device-local, host-visible, coherent, cached"; "" is nothing of these
};
struct MemoryUseReport {
  const char* use = "";
  std::vector<uint32_t> types;  // best first
};
struct MemoryReport {
  std::vector<MemoryHeapReport> heaps;
  std::vector<MemoryTypeReport> types;
  std::vector<MemoryUseReport> uses;
  uint64_t left = 0;         // that may still be taken from the main heap
  bool told_budget = false;  // by the driver; else by the heap's size
};
MemoryReport memory_report(const Device& device);

}  // namespace lapilli::vulkan
