// A Vulkan instance and its devices.
#pragma once

#include <memory>
#include <vector>

#include "base/result.hpp"
#include "vulkan/driver/api.hpp"

namespace lapilli::vulkan {

// An instance, ours or borrowed. The last reference destroys it if it is ours.
struct InstanceOptions {
  bool validation = false;
  bool debug_names = false;  // VK_EXT_debug_utils, also needed for validation
  bool ignore_environment = false;
  PFN_vkGetInstanceProcAddr get = nullptr;
};
struct Instance {
  LoaderTable loader;
  InstanceTable vk;
  VkInstance handle = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  uint32_t api_version = VK_API_VERSION_1_1;
  bool owned = false;
  bool debug_utils = false;  // names and labels are wanted, and VK_EXT_debug_utils is there
  // Destroyed not with the last reference but when the next such instance would be: keeps its driver loaded.
  bool stays = false;

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
