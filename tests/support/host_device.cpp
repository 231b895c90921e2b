#include "support/host_device.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

namespace lapilli::counting {

namespace {

constexpr const char* kSubset = "VK_KHR_portability_subset";

// `enumerate`: of an instance or a device, as Vulkan does it.
template <class Enumerate>
bool offers(Enumerate enumerate, std::string_view extension) {
  uint32_t n = 0;
  if (enumerate(&n, nullptr) != VK_SUCCESS) return false;
  std::vector<VkExtensionProperties> all(n);
  if (enumerate(&n, all.data()) < 0) return false;
  return std::any_of(all.begin(), all.end(), [&](const auto& e) { return extension == e.extensionName; });
}

}  // namespace

std::unique_ptr<HostDevice> HostDevice::create(const HostOptions& options) {
  std::unique_ptr<HostDevice> host(new HostDevice);
  host->options_ = options;
  auto loader = vulkan::open_loader(reinterpret_cast<PFN_vkGetInstanceProcAddr>(options.get_instance_proc_addr));
  if (!loader) return std::fprintf(stderr, "%s\n", loader.error().message.c_str()), nullptr;
  host->loader_ = *loader;
  if (!host->make_instance() || !host->make_device() || !host->make_frame()) return nullptr;
  return host;
}

bool HostDevice::make_instance() {
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = options_.api_version;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  const char* portability = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
  const auto of_loader = [&](uint32_t* n, VkExtensionProperties* all) {
    return loader_.EnumerateInstanceExtensionProperties(nullptr, n, all);
  };
  if (offers(of_loader, portability)) {
    info.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &portability;
  }
  if (loader_.CreateInstance(&info, nullptr, &instance_) != VK_SUCCESS) return false;
  auto table = vulkan::load_instance_table(loader_.GetInstanceProcAddr, instance_);
  if (!table) return false;
  vk_ = *table;
  uint32_t n = 1;
  return vk_.EnumeratePhysicalDevices(instance_, &n, &physical_) >= 0 && n != 0;
}

bool HostDevice::make_device() {
  auto asked = vulkan::host_requirements(reinterpret_cast<void*>(loader_.GetInstanceProcAddr), instance_, physical_);
  if (!asked) return std::fprintf(stderr, "%s\n", asked.error().message.c_str()), false;
  family_ = asked->queue_family;
  if (options_.features) enabled_ = *asked;
  const auto of_device = [&](uint32_t* n, VkExtensionProperties* all) {
    return vk_.EnumerateDeviceExtensionProperties(physical_, nullptr, n, all);
  };
  // Where it is offered it must be enabled.
  if (enabled_.extensions.empty() && offers(of_device, kSubset)) enabled_.extensions = {kSubset};
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  std::vector<const char*> extensions;
  for (const std::string& name : enabled_.extensions) extensions.push_back(name.c_str());
  VkDeviceCreateInfo device{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  device.queueCreateInfoCount = 1;
  device.pQueueCreateInfos = &queue;
  device.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  device.ppEnabledExtensionNames = extensions.data();
  if (create_device(device) != VK_SUCCESS) return false;
  auto table = vulkan::load_device_table(vk_.GetDeviceProcAddr, device_);
  if (!table) return false;
  table_ = *table;
  table_.GetDeviceQueue(device_, family_, 0, &queue_);
  return queue_ != VK_NULL_HANDLE;
}

// With the features that are to be enabled, and no struct for those that are not.
VkResult HostDevice::create_device(VkDeviceCreateInfo& info) {
  VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  const auto add = [&all](bool wanted, auto& features, auto& feature) {
    if (!wanted) return;
    feature = VK_TRUE;
    if (features.pNext || all.pNext == &features) return;  // two features of one struct
    features.pNext = all.pNext;
    all.pNext = &features;
  };
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
  VkPhysicalDevice16BitStorageFeatures storage16{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
  VkPhysicalDevice8BitStorageFeatures storage8{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES};
  VkPhysicalDeviceShaderFloat16Int8Features small{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES};
  VkPhysicalDeviceSubgroupSizeControlFeatures size{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
  add(enabled_.timeline_semaphore, timeline, timeline.timelineSemaphore);
  add(enabled_.storage_16bit, storage16, storage16.storageBuffer16BitAccess);
  add(enabled_.storage_8bit, storage8, storage8.storageBuffer8BitAccess);
  add(enabled_.arithmetic_fp16, small, small.shaderFloat16);
  add(enabled_.arithmetic_int8, small, small.shaderInt8);
  add(enabled_.integer_dot, dot, dot.shaderIntegerDotProduct);
  add(enabled_.subgroup_size_control, size, size.subgroupSizeControl);
  info.pNext = &all;
  return vk_.CreateDevice(physical_, &info, nullptr, &device_);
}

bool HostDevice::make_frame() {
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.queueFamilyIndex = family_;
  if (table_.CreateCommandPool(device_, &pool, nullptr, &pool_) != VK_SUCCESS) return false;
  VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  if (table_.AllocateCommandBuffers(device_, &info, &commands_) != VK_SUCCESS) return false;
  const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  return table_.CreateFence(device_, &fence, nullptr, &fence_) == VK_SUCCESS;
}

HostDevice::~HostDevice() {
  if (fence_) table_.DestroyFence(device_, fence_, nullptr);
  if (pool_) table_.DestroyCommandPool(device_, pool_, nullptr);
  if (device_ && table_.DestroyDevice) table_.DestroyDevice(device_, nullptr);
  if (instance_ && vk_.DestroyInstance) vk_.DestroyInstance(instance_, nullptr);
}

VkResult HostDevice::submit(const void* info, uint64_t fence) {
  const std::lock_guard lock(mutex_);
  return table_.QueueSubmit(queue_, 1, static_cast<const VkSubmitInfo*>(info), (VkFence)fence);
}

VkResult HostDevice::frame(const std::function<void(VkCommandBuffer)>& record) {
  VkResult r = table_.ResetCommandPool(device_, pool_, 0);
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  if (r == VK_SUCCESS) r = table_.BeginCommandBuffer(commands_, &begin);
  if (r != VK_SUCCESS) return r;
  record(commands_);
  r = table_.EndCommandBuffer(commands_);
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands_;
  if (r == VK_SUCCESS) r = submit(&info, (uint64_t)fence_);
  if (r == VK_SUCCESS) r = table_.WaitForFences(device_, 1, &fence_, VK_TRUE, UINT64_MAX);
  if (r == VK_SUCCESS) r = table_.ResetFences(device_, 1, &fence_);
  return r;
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
  a.device_extensions = enabled_.extensions;
  a.timeline_semaphore = enabled_.timeline_semaphore;
  a.storage_16bit = enabled_.storage_16bit;
  a.arithmetic_fp16 = enabled_.arithmetic_fp16;
  a.storage_8bit = enabled_.storage_8bit;
  a.arithmetic_int8 = enabled_.arithmetic_int8;
  a.integer_dot = enabled_.integer_dot;
  a.subgroup_size_control = enabled_.subgroup_size_control;
  return a;
}

}  // namespace lapilli::counting
