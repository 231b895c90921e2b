// Opens the Vulkan loader at run time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "vulkan/api.hpp"

namespace lapilli::vulkan {

// With `get` the given function is used instead of a library. Else the library named by LAPILLI_VULKAN_LIBRARY, or the
// system's. The library stays open for the process: drivers do not like being unloaded, and opening it again is cheap.
Result<LoaderTable> open_loader(PFN_vkGetInstanceProcAddr get);

// An instance, made by us or borrowed. Destroyed with the last reference if it is ours.
struct InstanceOptions {
  bool validation = false;
  PFN_vkGetInstanceProcAddr get = nullptr;
};
struct Instance {
  LoaderTable loader;
  InstanceTable vk;
  VkInstance handle = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  uint32_t api_version = VK_API_VERSION_1_1;
  bool owned = false;
  bool debug_utils = false;

  Instance() = default;
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance();
};
Result<std::shared_ptr<Instance>> create_instance(const InstanceOptions& options);
Result<std::shared_ptr<Instance>> borrow_instance(PFN_vkGetInstanceProcAddr get, VkInstance handle,
                                                  uint32_t api_version);
Result<std::vector<VkPhysicalDevice>> physical_devices(const Instance& instance);

}  // namespace lapilli::vulkan
