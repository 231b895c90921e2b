#include "gpu.hpp"

namespace game {

Gpu::Gpu(const std::vector<const char*>& instance_extensions) {
  open_vulkan();
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "lapilli-game";
  application.apiVersion = VK_API_VERSION_1_1;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  info.enabledExtensionCount = static_cast<uint32_t>(instance_extensions.size());
  info.ppEnabledExtensionNames = instance_extensions.data();
  check(vkCreateInstance(&info, nullptr, &instance), "vkCreateInstance");
  load_vulkan(instance);
}

Gpu::~Gpu() {
  if (device) vkDestroyDevice(device, nullptr);
  if (surface) vkDestroySurfaceKHR(instance, surface, nullptr);
  vkDestroyInstance(instance, nullptr);
}

void Gpu::make_device(VkSurfaceKHR shown_on, int index) {
  surface = shown_on;
  uint32_t count = 0;
  check(vkEnumeratePhysicalDevices(instance, &count, nullptr), "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> all(count);
  check(vkEnumeratePhysicalDevices(instance, &count, all.data()), "vkEnumeratePhysicalDevices");
  for (uint32_t i = 0; i < count; ++i) {
    physical = all[i];
    if ((index < 0 || static_cast<uint32_t>(index) == i) && find_family()) return create_device();
  }
  throw std::runtime_error("none of " + std::to_string(count) +
                           " Vulkan devices can draw here; --device says which one");
}

bool Gpu::find_family() {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
  constexpr VkQueueFlags kWanted = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
  for (family = 0; family < count; ++family) {
    VkBool32 shows = VK_TRUE;
    if (surface) check(vkGetPhysicalDeviceSurfaceSupportKHR(physical, family, surface, &shows), "asking the surface");
    if (shows && (families[family].queueFlags & kWanted) == kWanted) return true;
  }
  return false;
}

// Asks Lapilli for the extensions and features that it can use. A device that it refuses still runs the game.
void Gpu::ask_lapilli() {
  needs_.struct_size = sizeof needs_;
  void* entry = reinterpret_cast<void*>(vkGetInstanceProcAddr);
  if (lapilli_device_requirements(entry, instance, physical, &needs_) != LAPILLI_OK)
    refusal_ = lapilli_last_error();
  else if (!needs_.usable)
    refusal_ = needs_.refusal;
  if (!refusal_.empty()) {
    needs_ = {};
    return;
  }
  for (size_t i = 0; i < needs_.extension_count; ++i) extensions_.emplace_back(needs_.extensions[i]);
}

namespace {

// One Vulkan struct of features for each extension that Lapilli may use, in one chain.
struct Features {
  VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
  VkPhysicalDevice16BitStorageFeatures storage16{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
  VkPhysicalDevice8BitStorageFeatures storage8{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES};
  VkPhysicalDeviceShaderFloat16Int8Features small{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES};
  VkPhysicalDeviceSubgroupSizeControlFeatures subgroup{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};

  explicit Features(const lapilli_requirements& needs) {
    timeline.timelineSemaphore = needs.timeline_semaphore != 0;
    storage16.storageBuffer16BitAccess = needs.storage_16bit != 0;
    storage8.storageBuffer8BitAccess = needs.storage_8bit != 0;
    small.shaderFloat16 = needs.shader_float16 != 0;
    small.shaderInt8 = needs.shader_int8 != 0;
    dot.shaderIntegerDotProduct = needs.integer_dot_product != 0;
    subgroup.subgroupSizeControl = needs.subgroup_size_control != 0;
    chain(timeline, timeline.timelineSemaphore);
    chain(storage16, storage16.storageBuffer16BitAccess);
    chain(storage8, storage8.storageBuffer8BitAccess);
    chain(small, small.shaderFloat16 || small.shaderInt8);
    chain(dot, dot.shaderIntegerDotProduct);
    chain(subgroup, subgroup.subgroupSizeControl);
  }
  Features(const Features&) = delete;
  Features& operator=(const Features&) = delete;

 private:
  // A struct whose extension is not enabled must not be there.
  template <typename Struct>
  void chain(Struct& features, VkBool32 wanted) {
    if (!wanted) return;
    features.pNext = all.pNext;
    all.pNext = &features;
  }
};

}  // namespace

void Gpu::create_device() {
  ask_lapilli();
  if (surface) extensions_.emplace_back(VK_KHR_SWAPCHAIN_EXTENSION_NAME);
  for (const std::string& extension : extensions_) extension_names_.push_back(extension.c_str());
  const Features features(needs_);
  const float priority = 1;
  VkDeviceQueueCreateInfo queues{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queues.queueFamilyIndex = family;
  queues.queueCount = 1;
  queues.pQueuePriorities = &priority;
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features.all};
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queues;
  info.enabledExtensionCount = static_cast<uint32_t>(extension_names_.size());
  info.ppEnabledExtensionNames = extension_names_.data();
  check(vkCreateDevice(physical, &info, nullptr, &device), "vkCreateDevice");
  vkGetDeviceQueue(device, family, 0, &queue);
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical, &properties);
  name = properties.deviceName;
}

lapilli_host_device Gpu::describe() const {
  lapilli_host_device host = lapilli_default_host_device();
  host.api_version = VK_API_VERSION_1_1;
  host.get_instance_proc_addr = reinterpret_cast<void*>(vkGetInstanceProcAddr);
  host.instance = instance;
  host.physical_device = physical;
  host.device = device;
  host.queue_family = family;
  host.extensions = extension_names_.data();
  host.extension_count = extension_names_.size();
  host.timeline_semaphore = needs_.timeline_semaphore;
  host.storage_16bit = needs_.storage_16bit;
  host.shader_float16 = needs_.shader_float16;
  host.storage_8bit = needs_.storage_8bit;
  host.shader_int8 = needs_.shader_int8;
  host.integer_dot_product = needs_.integer_dot_product;
  host.subgroup_size_control = needs_.subgroup_size_control;
  return host;
}

VkResult Gpu::submit(const VkSubmitInfo& info, VkFence fence) {
  const std::lock_guard lock(queue_mutex);
  return vkQueueSubmit(queue, 1, &info, fence);
}

void Gpu::wait_idle() {
  const std::lock_guard lock(queue_mutex);
  check(vkDeviceWaitIdle(device), "vkDeviceWaitIdle");
}

}  // namespace game
