// A VkInstance and VkDevice made by hand, as a game would have them, to be adopted.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vulkan/device/device.hpp"
#include "vulkan/driver/instance.hpp"
#include "vulkan/driver/loader.hpp"

namespace lapilli::counting {

struct HostOptions {
  uint32_t api_version = VK_API_VERSION_1_1;
  void* get_instance_proc_addr = nullptr;  // null: the loader's
  bool features = false;                   // enable what host_requirements() names; else nothing that may be left away
};

// Destroys what it made when it goes.
class HostDevice {
 public:
  // Null with a message on stderr if there is no Vulkan.
  static std::unique_ptr<HostDevice> create(const HostOptions& options);
  ~HostDevice();
  HostDevice(const HostDevice&) = delete;
  HostDevice& operator=(const HostDevice&) = delete;
  [[nodiscard]] vulkan::AdoptedDevice handles() const;

  // To the queue, by one thread at a time: `info` is a VkSubmitInfo, `fence` a VkFence.
  VkResult submit(const void* info, uint64_t fence);
  // A frame: what `record` puts into a command buffer is submitted and waited for. From one thread.
  VkResult frame(const std::function<void(VkCommandBuffer)>& record);

 private:
  HostDevice() = default;
  bool make_instance();
  bool make_device();
  bool make_frame();
  VkResult create_device(VkDeviceCreateInfo& info);

  HostOptions options_;
  vulkan::HostRequirements enabled_;
  vulkan::LoaderTable loader_;
  vulkan::InstanceTable vk_;
  vulkan::DeviceTable table_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
  uint32_t family_ = 0;
  std::mutex mutex_;
};

}  // namespace lapilli::counting
