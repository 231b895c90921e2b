#include "support/host_device.hpp"

#include <cstdio>
#include <vector>

namespace lapilli::counting {

std::unique_ptr<HostDevice> HostDevice::create(const HostOptions& options) {
  std::unique_ptr<HostDevice> host(new HostDevice);
  host->options_ = options;
  auto loader = vulkan::open_loader(reinterpret_cast<PFN_vkGetInstanceProcAddr>(options.get_instance_proc_addr));
  if (!loader) return std::fprintf(stderr, "%s\n", loader.error().message.c_str()), nullptr;
  host->loader_ = *loader;
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = options.api_version;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  if (host->loader_.CreateInstance(&info, nullptr, &host->instance_) != VK_SUCCESS) return nullptr;
  auto table = vulkan::load_instance_table(host->loader_.GetInstanceProcAddr, host->instance_);
  if (!table) return nullptr;
  host->vk_ = *table;

  uint32_t n = 1;
  if (host->vk_.EnumeratePhysicalDevices(host->instance_, &n, &host->physical_) < 0 || n == 0) return nullptr;
  host->vk_.GetPhysicalDeviceQueueFamilyProperties(host->physical_, &n, nullptr);
  std::vector<VkQueueFamilyProperties> families(n);
  host->vk_.GetPhysicalDeviceQueueFamilyProperties(host->physical_, &n, families.data());
  while (host->family_ < n && !(families[host->family_].queueFlags & VK_QUEUE_COMPUTE_BIT)) ++host->family_;

  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = host->family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo device{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  device.queueCreateInfoCount = 1;
  device.pQueueCreateInfos = &queue;
  if (host->vk_.CreateDevice(host->physical_, &device, nullptr, &host->device_) != VK_SUCCESS) return nullptr;
  const auto get_queue =
      reinterpret_cast<PFN_vkGetDeviceQueue>(host->vk_.GetDeviceProcAddr(host->device_, "vkGetDeviceQueue"));
  get_queue(host->device_, host->family_, 0, &host->queue_);
  return host;
}

HostDevice::~HostDevice() {
  if (device_) {
    reinterpret_cast<PFN_vkDestroyDevice>(vk_.GetDeviceProcAddr(device_, "vkDestroyDevice"))(device_, nullptr);
  }
  if (instance_ && vk_.DestroyInstance) vk_.DestroyInstance(instance_, nullptr);
}

vulkan::AdoptedDevice HostDevice::handles() const {
  vulkan::AdoptedDevice a;
  a.get_instance_proc_addr = reinterpret_cast<void*>(loader_.GetInstanceProcAddr);
  a.instance = instance_;
  a.physical_device = physical_;
  a.device = device_;
  a.queue = queue_;
  a.queue_family = family_;
  a.api_version = options_.api_version;
  return a;
}

}  // namespace lapilli::counting
