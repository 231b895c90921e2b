#include "vulkan/device/snapshot.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "vulkan/caps/bindings.hpp"
#include "vulkan/caps/quirks.hpp"
#include "vulkan/device/memory_types.hpp"

namespace lapilli::vulkan {
namespace {

constexpr uint32_t kLargestSubgroup = 128;  // Vulkan's limit

// Prepends a struct to a pNext chain.
template <class Head, class T>
void chain(Head& head, T& next) {
  next.pNext = head.pNext;
  head.pNext = &next;
}

void list_extensions(const Instance& instance, Snapshot& s) {
  uint32_t n = 0;
  if (instance.vk.EnumerateDeviceExtensionProperties(s.handle, nullptr, &n, nullptr) < 0) return;
  std::vector<VkExtensionProperties> list(n);
  if (instance.vk.EnumerateDeviceExtensionProperties(s.handle, nullptr, &n, list.data()) < 0) return;
  list.resize(std::min<size_t>(list.size(), n));
  for (const auto& e : list) s.extensions.emplace_back(e.extensionName);
}

DeviceType device_type(VkPhysicalDeviceType t) {
  switch (t) {
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return DeviceType::integrated;
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return DeviceType::discrete;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return DeviceType::virtual_gpu;
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return DeviceType::cpu;
    default: return DeviceType::other;
  }
}

// Drivers' strings need not be terminated or valid.
std::string text(const char* s, size_t size) {
  std::string t(s, strnlen(s, size));
  for (char& c : t) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return t;
}

// The specification requires powers of two, and rounding relies on it.
uint64_t power_of_two(uint64_t limit) { return std::bit_ceil(std::clamp<uint64_t>(limit, 1, uint64_t{1} << 32)); }

void copy_limits(const VkPhysicalDeviceProperties& p, Capabilities& c) {
  const VkPhysicalDeviceLimits& l = p.limits;
  c.device_name = text(p.deviceName, sizeof p.deviceName);
  c.vendor_id = p.vendorID;
  c.device_id = p.deviceID;
  c.driver_version = p.driverVersion;
  c.type = device_type(p.deviceType);
  c.max_storage_range = l.maxStorageBufferRange;
  c.max_uniform_range = l.maxUniformBufferRange;
  c.max_push_bytes = l.maxPushConstantsSize;
  c.max_storage_buffers = std::min(l.maxPerStageDescriptorStorageBuffers, l.maxDescriptorSetStorageBuffers);
  c.max_uniform_buffers = std::min(l.maxPerStageDescriptorUniformBuffers, l.maxDescriptorSetUniformBuffers);
  c.max_invocations = l.maxComputeWorkGroupInvocations;
  for (size_t i = 0; i < 3; ++i) {
    c.max_group_size[i] = l.maxComputeWorkGroupSize[i];
    c.max_group_count[i] = l.maxComputeWorkGroupCount[i];
  }
  c.shared_memory = l.maxComputeSharedMemorySize;
  c.storage_alignment = power_of_two(l.minStorageBufferOffsetAlignment);
  c.uniform_alignment = power_of_two(l.minUniformBufferOffsetAlignment);
  c.non_coherent_atom = power_of_two(l.nonCoherentAtomSize);
  // For CPU drivers, and only if every binding fits: the order in which a kernel sums must not depend on sizes.
  c.texels = c.type == DeviceType::cpu && l.maxTexelBufferElements >= c.max_storage_range / kTexelBytes;
  if (c.texels) c.storage_alignment = std::max(c.storage_alignment, power_of_two(l.minTexelBufferOffsetAlignment));
  c.timestamp_period = l.timestampPeriod;
}

struct Support {
  bool v12 = false, v13 = false;
  bool dot = false, size_control = false, maintenance4 = false, driver = false, fp16_int8 = false, storage8 = false;
  bool timeline = false, cooperative = false;
};

// True if its cooperative matrices are dedicated units: some drivers emulate them with ordinary arithmetic. Intel has
// units from Xe 2 on, whose smallest subgroup is 16, AMD from RDNA 3 on, which has dot products of mixed signs.
bool has_matrix_units(const Capabilities& c, bool mixed_dot) {
  constexpr uint32_t kAmd = 0x1002, kIntel = 0x8086, kNvidia = 0x10de;
  switch (c.vendor_id) {
    case kAmd: return mixed_dot;
    case kIntel: return c.min_subgroup_size >= 16;
    case kNvidia: return true;
    default: return c.type == DeviceType::cpu;  // unused unless it is to act as a GPU
  }
}

Support support(const Snapshot& s) {
  Support u;
  u.v12 = s.caps.api_version >= VK_API_VERSION_1_2;
  u.v13 = s.caps.api_version >= VK_API_VERSION_1_3;
  u.timeline = u.v12 || s.has(VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME);
  u.fp16_int8 = u.v12 || s.has(VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME);
  u.storage8 = u.v12 || s.has(VK_KHR_8BIT_STORAGE_EXTENSION_NAME);
  u.driver = u.v12 || s.has(VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME);
  u.dot = u.v13 || s.has(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
  u.size_control = u.v13 || s.has(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  u.maintenance4 = u.v13 || s.has(VK_KHR_MAINTENANCE_4_EXTENSION_NAME);
  u.cooperative =
      s.has(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME) && (u.v12 || s.has(VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME));
  return u;
}

// The largest shape that kernels support: up to 16 rows, columns and depth.
std::array<uint32_t, 3> matrix_shape(const Instance& instance, VkPhysicalDevice device) {
  std::array<uint32_t, 3> best{};
  const auto get = instance.vk.GetPhysicalDeviceCooperativeMatrixPropertiesKHR;
  uint32_t n = 0;
  if (!get || get(device, &n, nullptr) < 0) return best;
  std::vector<VkCooperativeMatrixPropertiesKHR> all(n, {VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR});
  if (get(device, &n, all.data()) < 0) return best;
  all.resize(std::min<size_t>(all.size(), n));
  const auto fits = [](uint32_t size) { return size == 8 || size == 16; };
  for (const auto& p : all) {
    const bool halves = p.AType == VK_COMPONENT_TYPE_FLOAT16_KHR && p.BType == VK_COMPONENT_TYPE_FLOAT16_KHR;
    const bool floats = p.CType == VK_COMPONENT_TYPE_FLOAT32_KHR && p.ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR;
    if (!halves || !floats || p.saturatingAccumulation || p.scope != VK_SCOPE_SUBGROUP_KHR) continue;
    if (!fits(p.MSize) || !fits(p.NSize) || !fits(p.KSize)) continue;
    if (p.MSize * p.NSize * p.KSize > best[0] * best[1] * best[2]) best = {p.MSize, p.NSize, p.KSize};
  }
  return best;
}

void copy_properties(const Instance& instance, const Support& u, Snapshot& s) {
  Capabilities& c = s.caps;
  VkPhysicalDeviceProperties2 p{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  VkPhysicalDeviceIDProperties id{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
  VkPhysicalDeviceSubgroupProperties subgroup{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties limits{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
  VkPhysicalDeviceMaintenance4Properties buffers{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};
  VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceSubgroupSizeControlProperties size{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
  VkPhysicalDeviceShaderIntegerDotProductProperties dot{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES};
  VkPhysicalDevicePCIBusInfoPropertiesEXT pci{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT};
  chain(p, id);
  chain(p, subgroup);
  chain(p, limits);
  if (u.maintenance4) chain(p, buffers);
  if (u.driver) chain(p, driver);
  if (u.size_control) chain(p, size);
  if (u.dot) chain(p, dot);
  const bool has_pci = s.has(VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);
  if (has_pci) chain(p, pci);
  instance.vk.GetPhysicalDeviceProperties2(s.handle, &p);

  if (has_pci) s.pci = format("%04x:%02x:%02x.%x", pci.pciDomain, pci.pciBus, pci.pciDevice, pci.pciFunction);
  std::copy_n(id.deviceUUID, c.uuid.size(), c.uuid.begin());
  if (u.driver) {
    c.driver_name = text(driver.driverName, sizeof driver.driverName);
    c.driver_info = text(driver.driverInfo, sizeof driver.driverInfo);
  }
  c.max_allocation = limits.maxMemoryAllocationSize;
  if (u.maintenance4 && buffers.maxBufferSize) c.max_allocation = std::min(c.max_allocation, buffers.maxBufferSize);

  const bool in_compute = subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT;
  if (in_compute && subgroup.subgroupSize > 1 && std::has_single_bit(subgroup.subgroupSize)) {
    c.subgroup_arithmetic = subgroup.supportedOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
    c.subgroup_shuffle = subgroup.supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    if (c.subgroup_arithmetic || c.subgroup_shuffle) {
      // Without size control the reported size need not be the executed one (Intel reports 32 but runs 8 or 16).
      c.subgroup_size = subgroup.subgroupSize;
      c.min_subgroup_size = 1;
      c.max_subgroup_size = std::max(kLargestSubgroup, c.subgroup_size);
      if (u.size_control && size.minSubgroupSize && size.minSubgroupSize <= size.maxSubgroupSize) {
        c.min_subgroup_size = size.minSubgroupSize;
        c.max_subgroup_size = size.maxSubgroupSize;
        c.subgroup_size_control = size.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT;
      }
    }
  }
  // Only if accelerated: emulated dot products are slower than plain code.
  c.integer_dot = u.dot && dot.integerDotProduct4x8BitPackedSignedAccelerated;
  if (u.cooperative && has_matrix_units(c, u.dot && dot.integerDotProduct4x8BitPackedMixedSignednessAccelerated))
    c.cooperative_matrix = matrix_shape(instance, s.handle);
}

void copy_features(const Instance& instance, const Support& u, Snapshot& s) {
  Capabilities& c = s.caps;
  VkPhysicalDeviceFeatures2 f{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkPhysicalDevice16BitStorageFeatures storage16{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
  VkPhysicalDevice8BitStorageFeatures storage8{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES};
  VkPhysicalDeviceShaderFloat16Int8Features small{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES};
  VkPhysicalDeviceSubgroupSizeControlFeatures size{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
  VkPhysicalDeviceVulkanMemoryModelFeatures model{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES};
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR cooperative{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR};
  chain(f, storage16);
  if (u.cooperative) chain(f, model), chain(f, cooperative);
  if (u.storage8) chain(f, storage8);
  if (u.fp16_int8) chain(f, small);
  if (u.timeline) chain(f, timeline);
  if (u.dot) chain(f, dot);
  if (u.size_control) chain(f, size);
  instance.vk.GetPhysicalDeviceFeatures2(s.handle, &f);

  c.storage_16bit = storage16.storageBuffer16BitAccess;
  c.storage_8bit = storage8.storageBuffer8BitAccess;
  c.arithmetic_fp16 = small.shaderFloat16;
  c.arithmetic_int8 = small.shaderInt8;
  c.timeline_semaphore = timeline.timelineSemaphore;
  c.integer_dot = c.integer_dot && dot.shaderIntegerDotProduct;
  c.subgroup_size_control = c.subgroup_size_control && size.subgroupSizeControl;
  if (!cooperative.cooperativeMatrix || !model.vulkanMemoryModel) c.cooperative_matrix = {};
}

void copy_memory(const Instance& instance, Snapshot& s) {
  instance.vk.GetPhysicalDeviceMemoryProperties(s.handle, &s.memory);
  auto& m = s.memory;
  m.memoryTypeCount = std::min<uint32_t>(m.memoryTypeCount, VK_MAX_MEMORY_TYPES);
  m.memoryHeapCount = std::min<uint32_t>(m.memoryHeapCount, VK_MAX_MEMORY_HEAPS);
  s.main_heap = main_heap_of(m, s.caps.type);
  s.caps.heap_bytes = m.memoryHeapCount ? m.memoryHeaps[s.main_heap].size : 0;
  s.caps.unified_memory = is_unified(m, s.caps.type);
  const bool host_visible = std::any_of(m.memoryTypes, m.memoryTypes + m.memoryTypeCount, [](const auto& type) {
    return (type.propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
  });
  if (!host_visible && s.refusal.empty()) s.refusal = "it has no memory that the host can map";
}

// Prefers a family without graphics, so as not to wait for the desktop's and the host's own frames; otherwise takes any
// with compute.
void choose_queue(const Instance& instance, std::optional<uint32_t> wanted, Snapshot& s) {
  uint32_t n = 0;
  instance.vk.GetPhysicalDeviceQueueFamilyProperties(s.handle, &n, nullptr);
  std::vector<VkQueueFamilyProperties> families(n);
  instance.vk.GetPhysicalDeviceQueueFamilyProperties(s.handle, &n, families.data());
  families.resize(std::min<size_t>(families.size(), n));
  int best = -1;
  for (uint32_t i = 0; i < families.size(); ++i) {
    if (wanted && i != *wanted) continue;
    const auto& f = families[i];
    if (!(f.queueFlags & VK_QUEUE_COMPUTE_BIT) || f.queueCount == 0) continue;
    // Every queue with compute can copy. Prefers timestamps, and the first of equals.
    const int score = ((f.queueFlags & VK_QUEUE_GRAPHICS_BIT) ? 0 : 2) + (f.timestampValidBits ? 1 : 0);
    if (score <= best) continue;
    best = score;
    s.queue_family = i;
    s.timestamp_bits = f.timestampValidBits;
  }
  if (best < 0 && s.refusal.empty()) {
    s.refusal = wanted ? format("queue family %u has no compute", *wanted) : "it has no queue with compute";
  }
  s.caps.timestamps = s.timestamp_bits != 0 && s.caps.timestamp_period > 0;
  if (!s.caps.timestamps) s.caps.timestamp_period = 0;
}

Snapshot snapshot(const Instance& instance, VkPhysicalDevice device, std::optional<uint32_t> family) {
  Snapshot s;
  s.handle = device;
  VkPhysicalDeviceProperties p{};
  instance.vk.GetPhysicalDeviceProperties(device, &p);
  copy_limits(p, s.caps);
  s.caps.api_version = std::min(p.apiVersion, instance.api_version | 0xfffu);  // any patch of the instance's version
  if (s.caps.api_version < VK_API_VERSION_1_1) {
    s.refusal = format("it has Vulkan %u.%u; 1.1 is needed", VK_API_VERSION_MAJOR(p.apiVersion),
                       VK_API_VERSION_MINOR(p.apiVersion));
    return s;
  }
  if (!instance.vk.GetPhysicalDeviceProperties2 || !instance.vk.GetPhysicalDeviceFeatures2) {
    s.refusal = "the instance was made for Vulkan 1.0; 1.1 is needed";
    return s;
  }
  list_extensions(instance, s);
  const Support u = support(s);
  copy_properties(instance, u, s);
  copy_features(instance, u, s);
  s.caps.memory_budget = s.has(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) && instance.vk.GetPhysicalDeviceMemoryProperties2;
  choose_queue(instance, family, s);
  copy_memory(instance, s);
  if (s.refusal.empty()) s.refusal = missing_floor(s.caps);
  apply_quirks(s.caps);
  return s;
}

}  // namespace

bool Snapshot::has(const char* extension) const {
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

std::string missing_floor(const Capabilities& caps) {
  const Capabilities floor;
  const struct {
    const char* name;
    uint64_t have, need;
  } limits[] = {
      {"storage buffers a stage", caps.max_storage_buffers, floor.max_storage_buffers},
      {"uniform buffers a stage", caps.max_uniform_buffers, floor.max_uniform_buffers},
      {"bytes of a storage binding", caps.max_storage_range, floor.max_storage_range},
      {"bytes of a uniform binding", caps.max_uniform_range, floor.max_uniform_range},
      {"bytes of push constants", caps.max_push_bytes, floor.max_push_bytes},
      {"invocations a workgroup", caps.max_invocations, floor.max_invocations},
      {"bytes of shared memory", caps.shared_memory, floor.shared_memory},
      {"workgroup width", caps.max_group_size[0], floor.max_group_size[0]},
      {"workgroup height", caps.max_group_size[1], floor.max_group_size[1]},
      {"workgroup depth", caps.max_group_size[2], floor.max_group_size[2]},
      {"workgroups in x", caps.max_group_count[0], floor.max_group_count[0]},
      {"workgroups in y", caps.max_group_count[1], floor.max_group_count[1]},
      {"workgroups in z", caps.max_group_count[2], floor.max_group_count[2]},
  };
  for (const auto& l : limits) {
    if (l.have < l.need) {
      return format("it has %u %s; Vulkan 1.1 guarantees %u", l.have, l.name, l.need);
    }
  }
  if (caps.storage_alignment > floor.storage_alignment || caps.uniform_alignment > floor.uniform_alignment) {
    return "its buffer offsets need more than the 256 bytes of alignment that Vulkan 1.1 allows";
  }
  return {};
}

Snapshot take_snapshot(const Instance& instance, VkPhysicalDevice device) {
  return snapshot(instance, device, std::nullopt);
}

Snapshot take_snapshot(const Instance& instance, VkPhysicalDevice device, uint32_t queue_family) {
  return snapshot(instance, device, queue_family);
}

}  // namespace lapilli::vulkan
