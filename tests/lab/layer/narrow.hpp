// Narrows what a driver says of its device to what the configuration pretends.
#pragma once

#include <vulkan/vulkan_core.h>

namespace lapilli::lab {

void narrow(VkPhysicalDeviceProperties& properties);
void narrow(VkPhysicalDeviceFeatures& features);
void narrow(VkQueueFamilyProperties& family);
void narrow(VkPhysicalDeviceMemoryProperties& memory);
// Every structure known here in a chain of pNext; others stay as they are.
void narrow_property_chain(void* chain);
void narrow_feature_chain(void* chain);
void narrow_memory_chain(void* chain, const VkPhysicalDeviceMemoryProperties& driver);

// Does the application enable a feature that the pretended device lacks? The offending structure's type, or -1.
int first_refused_feature(const VkDeviceCreateInfo& info);

// memory=discrete: type 0 is device-local and cannot be mapped (heap 0), type 1 is host-visible and coherent (heap 1).
// Both are allocated from one real type of the driver, which can do both.
bool discrete_memory();
uint32_t real_memory_type(const VkPhysicalDeviceMemoryProperties& driver);

}  // namespace lapilli::lab
