// A VkInstance and VkDevice made by hand, as a game would have them, to be adopted.
#pragma once

#include <memory>

#include "vulkan/device.hpp"
#include "vulkan/instance.hpp"
#include "vulkan/loader.hpp"

namespace lapilli::counting {

struct HostOptions {
  uint32_t api_version = VK_API_VERSION_1_1;
  void* get_instance_proc_addr = nullptr;  // null: the loader's
};

// Destroys what it made when it goes. The device has no feature and no extension enabled.
class HostDevice {
 public:
  // Null with a message on stderr if there is no Vulkan.
  static std::unique_ptr<HostDevice> create(const HostOptions& options);
  ~HostDevice();
  HostDevice(const HostDevice&) = delete;
  HostDevice& operator=(const HostDevice&) = delete;
  [[nodiscard]] vulkan::AdoptedDevice handles() const;

 private:
  HostDevice() = default;
  HostOptions options_;
  vulkan::LoaderTable loader_;
  vulkan::InstanceTable vk_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  uint32_t family_ = 0;
};

}  // namespace lapilli::counting
