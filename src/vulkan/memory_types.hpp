// Which memory types serve a use, best first: a pure function of what a device says of its memory, so that it is tested
// as a table of real devices without one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vulkan/api.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/capabilities.hpp"

namespace lapilli::vulkan {

// The heap that weights and arenas come from: the largest device-local one (of several equal ones the first), or the
// largest at all.
uint32_t main_heap_of(const VkPhysicalDeviceMemoryProperties& memory, DeviceType type);

// Memory in which the device works and which the host can map: of everything but discrete GPUs, whose memory may be
// visible through their bus, but is read very slowly there.
bool is_unified(const VkPhysicalDeviceMemoryProperties& memory, DeviceType type);

struct MemoryShape {
  const VkPhysicalDeviceMemoryProperties& memory;
  uint32_t main_heap = 0;
  bool unified = false;
};
// Of the types in `bits` those that can serve `use`, best first.
std::vector<uint32_t> types_for(const MemoryShape& shape, MemoryUse use, uint32_t bits);

// Bytes that a heap of `size` has left by what VK_EXT_memory_budget says, which is the driver's guess: nullopt where it
// says nothing (no budget), or nonsense (lavapipe on 32 bits beside more memory than these count: nearly 2^64 bytes
// used).
std::optional<uint64_t> budget_left(uint64_t budget, uint64_t used, uint64_t size);

}  // namespace lapilli::vulkan
