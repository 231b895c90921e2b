// The game's own Vulkan device, made so that Lapilli may run on it, too.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "lapilli/lapilli.h"
#include "vulkan.hpp"

namespace game {

// Throws where Vulkan fails. `instance` first, then (with a window) a surface, then the device.
class Gpu {
 public:
  explicit Gpu(const std::vector<const char*>& instance_extensions);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  // The first device, or number `index` if that is not below 0, with a queue family that draws, computes, and can show
  // pictures on `shown_on` unless that is null. The surface is the Gpu's from now on.
  void make_device(VkSurfaceKHR shown_on, int index);

  // The device as Lapilli wants it described, without a way for work to reach it.
  lapilli_host_device describe() const;
  // Why there can be no translation here; empty if there can.
  const std::string& refusal() const { return refusal_; }

  // Under the lock, as Lapilli submits from its calls.
  VkResult submit(const VkSubmitInfo& info, VkFence fence);
  void wait_idle();

  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  VkSurfaceKHR surface = VK_NULL_HANDLE;
  uint32_t family = 0;
  std::string name;
  std::mutex queue_mutex;

 private:
  bool find_family();
  void ask_lapilli();
  void create_device();

  lapilli_requirements needs_{};
  std::string refusal_;
  std::vector<std::string> extensions_;
  std::vector<const char*> extension_names_;
};

}  // namespace game
