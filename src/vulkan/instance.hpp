// A Vulkan instance and its devices.
#pragma once

#include <memory>
#include <vector>

#include "base/result.hpp"
#include "vulkan/api.hpp"

namespace lapilli::vulkan {

// An instance, made by us or borrowed. Destroyed with the last reference if it is ours.
struct InstanceOptions {
  bool validation = false;
  bool debug_names = false;  // VK_EXT_debug_utils, which validation needs too
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
  bool debug_utils = false;  // names and labels are wanted, and there is VK_EXT_debug_utils
  // Not destroyed with the last reference, but when the next such one would be: so that its driver stays loaded.
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
