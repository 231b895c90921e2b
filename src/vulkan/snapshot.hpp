// What a physical device says about itself.
#pragma once

#include <string>
#include <vector>

#include "vulkan/capabilities.hpp"
#include "vulkan/instance.hpp"

namespace lapilli::vulkan {

struct Snapshot {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  Capabilities caps;    // as the device reports, corrected by quirks, not masked
  std::string refusal;  // why the floor is missing; empty: usable
  uint32_t queue_family = 0;
  uint32_t timestamp_bits = 0;  // valid ones of that family
  uint32_t main_heap = 0;       // the heap that weights and arenas come from
  VkPhysicalDeviceMemoryProperties memory{};
  std::vector<std::string> extensions;  // offered device extensions

  [[nodiscard]] bool has(const char* extension) const;
};

// Never fails: what cannot be asked for becomes the floor's value or a refusal.
Snapshot take_snapshot(const Instance& instance, VkPhysicalDevice device);
// The same for a given queue family (an adopted device's).
Snapshot take_snapshot(const Instance& instance, VkPhysicalDevice device, uint32_t queue_family);

// The first limit that is below the floor, in words; empty if none is.
std::string missing_floor(const Capabilities& caps);

}  // namespace lapilli::vulkan
