// Memory types for a use, best first: a pure function of a device's memory properties, tested on a table of real
// devices without having one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vulkan/caps/capabilities.hpp"
#include "vulkan/device/buffer.hpp"
#include "vulkan/driver/api.hpp"

namespace lapilli::vulkan {

// The heap for weights and arenas: the largest device-local one (the first of equals), or the largest of all.
uint32_t main_heap_of(const VkPhysicalDeviceMemoryProperties& memory, DeviceType type);

// True if the device works in memory that the host can map: for all but discrete GPUs, whose memory may be visible
// through their bus but is read very slowly there.
bool is_unified(const VkPhysicalDeviceMemoryProperties& memory, DeviceType type);

struct MemoryShape {
  const VkPhysicalDeviceMemoryProperties& memory;
  uint32_t main_heap = 0;
  bool unified = false;
};
// Those of the types in `bits` that can serve `use`, best first.
std::vector<uint32_t> types_for(const MemoryShape& shape, MemoryUse use, uint32_t bits);

// Bytes left of a heap of `size` by VK_EXT_memory_budget, the driver's guess: nullopt if it says nothing (no budget) or
// nonsense (lavapipe on 32 bits, beside more memory than these can count, reports nearly 2^64 bytes used).
std::optional<uint64_t> budget_left(uint64_t budget, uint64_t used, uint64_t size);

}  // namespace lapilli::vulkan
