// A physical device's properties.
#pragma once

#include <string>
#include <vector>

#include "vulkan/caps/capabilities.hpp"
#include "vulkan/driver/instance.hpp"

namespace lapilli::vulkan {

struct Snapshot {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  Capabilities caps;    // as the device reports, corrected by quirks, not masked
  std::string refusal;  // reason why it is below the floor; empty: usable
  uint32_t queue_family = 0;
  uint32_t timestamp_bits = 0;  // valid bits in that family
  uint32_t main_heap = 0;       // heap for weights and arenas
  VkPhysicalDeviceMemoryProperties memory{};
  std::vector<std::string> extensions;  // offered device extensions
  std::string pci;                      // address such as "0000:81:00.0"; empty: unknown

  [[nodiscard]] bool has(const char* extension) const;
};

// Never fails: properties that cannot be queried get the floor's value or cause a refusal.
Snapshot take_snapshot(const Instance& instance, VkPhysicalDevice device);
// Does the same for a given queue family (an adopted device's).
Snapshot take_snapshot(const Instance& instance, VkPhysicalDevice device, uint32_t queue_family);

// The first limit below the floor, in words; empty if there is none.
std::string missing_floor(const Capabilities& caps);

}  // namespace lapilli::vulkan
