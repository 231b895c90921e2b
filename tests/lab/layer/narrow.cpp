#include "narrow.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "config.hpp"
#include "memory_types.hpp"

namespace lapilli::lab {

namespace {

const Config& config() { return Config::get(); }

// Limits only ever shrink, alignments only ever grow: the driver underneath must still be able to keep the promise.
template <class T>
void at_most(const char* key, T& value) {
  if (config().has(key)) value = static_cast<T>(std::min<uint64_t>(value, config().number(key)));
}
template <class T>
void at_least(const char* key, T& value) {
  if (config().has(key)) value = static_cast<T>(std::max<uint64_t>(value, config().number(key)));
}
void at_most_3(const char* key, uint32_t (&value)[3]) {
  unsigned wanted[3];
  if (std::sscanf(config().text(key).c_str(), "%u:%u:%u", &wanted[0], &wanted[1], &wanted[2]) != 3) return;
  for (int i = 0; i < 3; ++i) value[i] = std::min(value[i], wanted[i]);
}
template <class T>
void only_bits(const char* key, T& bits) {
  if (config().has(key)) bits &= static_cast<T>(config().number(key));
}

// Not narrower, but another: to see who believes it.
void another(const char* key, uint32_t& value) {
  if (config().has(key)) value = static_cast<uint32_t>(config().number(key));
}

VkPhysicalDeviceType device_type(const std::string& name) {
  if (name == "integrated") return VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  if (name == "discrete") return VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  if (name == "virtual") return VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU;
  return VK_PHYSICAL_DEVICE_TYPE_CPU;
}

void narrow_limits(VkPhysicalDeviceLimits& limits) {
#define AT_MOST(member) at_most(#member, limits.member);
#define AT_LEAST(member) at_least(#member, limits.member);
  AT_MOST(maxStorageBufferRange)
  AT_MOST(maxUniformBufferRange)
  AT_MOST(maxPushConstantsSize)
  AT_MOST(maxMemoryAllocationCount)
  AT_MOST(maxBoundDescriptorSets)
  AT_MOST(maxPerStageDescriptorStorageBuffers)
  AT_MOST(maxPerStageDescriptorUniformBuffers)
  AT_MOST(maxPerStageDescriptorStorageImages)
  AT_MOST(maxPerStageDescriptorSampledImages)
  AT_MOST(maxPerStageResources)
  AT_MOST(maxDescriptorSetStorageBuffers)
  AT_MOST(maxDescriptorSetStorageBuffersDynamic)
  AT_MOST(maxDescriptorSetUniformBuffers)
  AT_MOST(maxDescriptorSetUniformBuffersDynamic)
  AT_MOST(maxTexelBufferElements)
  AT_MOST(maxComputeSharedMemorySize)
  AT_MOST(maxComputeWorkGroupInvocations)
  AT_MOST(timestampComputeAndGraphics)
  AT_MOST(sparseAddressSpaceSize)
  at_most_3("maxComputeWorkGroupCount", limits.maxComputeWorkGroupCount);
  at_most_3("maxComputeWorkGroupSize", limits.maxComputeWorkGroupSize);
  AT_LEAST(minStorageBufferOffsetAlignment)
  AT_LEAST(minUniformBufferOffsetAlignment)
  AT_LEAST(minTexelBufferOffsetAlignment)
  AT_LEAST(nonCoherentAtomSize)
  AT_LEAST(bufferImageGranularity)
  AT_LEAST(minMemoryMapAlignment)
#undef AT_MOST
#undef AT_LEAST
  if (config().has("timestampPeriod"))
    limits.timestampPeriod = std::strtof(config().text("timestampPeriod").c_str(), nullptr);
  if (config().is("timestamps", "0")) limits.timestampComputeAndGraphics = VK_FALSE;
}

void off(const char* name, VkBool32& feature) {
  if (config().feature_off(name)) feature = VK_FALSE;
}

// A feature structure that can be narrowed: `narrow` switches off what is named, `off=*` clears all of it, since behind
// sType and pNext these structures hold nothing but VkBool32.
struct FeatureStruct {
  int type;
  size_t size;
  void (*narrow)(void*);
};

#define FEATURES(type, Struct, body)      \
  {                                       \
    type, sizeof(Struct), [](void* p) {   \
      auto& f = *static_cast<Struct*>(p); \
      body                                \
    }                                     \
  }
#define OFF(member) off(#member, f.member);

// Function-local, so that nothing runs when the layer is loaded.
const std::vector<FeatureStruct>& feature_structs() {
  static const std::vector<FeatureStruct> table = {
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, VkPhysicalDeviceVulkan11Features,
               OFF(storageBuffer16BitAccess) OFF(uniformAndStorageBuffer16BitAccess) OFF(storagePushConstant16)
                   OFF(variablePointersStorageBuffer) OFF(variablePointers)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, VkPhysicalDeviceVulkan12Features,
               OFF(storageBuffer8BitAccess) OFF(uniformAndStorageBuffer8BitAccess) OFF(storagePushConstant8)
                   OFF(shaderBufferInt64Atomics) OFF(shaderSharedInt64Atomics) OFF(shaderFloat16) OFF(shaderInt8)
                       OFF(descriptorIndexing) OFF(descriptorBindingStorageBufferUpdateAfterBind)
                           OFF(descriptorBindingPartiallyBound) OFF(runtimeDescriptorArray) OFF(scalarBlockLayout)
                               OFF(uniformBufferStandardLayout) OFF(shaderSubgroupExtendedTypes) OFF(hostQueryReset)
                                   OFF(timelineSemaphore) OFF(bufferDeviceAddress) OFF(vulkanMemoryModel)
                                       OFF(vulkanMemoryModelDeviceScope)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, VkPhysicalDeviceVulkan13Features,
               OFF(subgroupSizeControl) OFF(computeFullSubgroups) OFF(synchronization2) OFF(shaderIntegerDotProduct)
                   OFF(maintenance4) OFF(shaderZeroInitializeWorkgroupMemory) OFF(pipelineCreationCacheControl)
                       OFF(shaderTerminateInvocation)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES, VkPhysicalDevice16BitStorageFeatures,
               OFF(storageBuffer16BitAccess) OFF(uniformAndStorageBuffer16BitAccess) OFF(storagePushConstant16)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES, VkPhysicalDevice8BitStorageFeatures,
               OFF(storageBuffer8BitAccess) OFF(uniformAndStorageBuffer8BitAccess) OFF(storagePushConstant8)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
               VkPhysicalDeviceShaderFloat16Int8Features, OFF(shaderFloat16) OFF(shaderInt8)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VARIABLE_POINTERS_FEATURES, VkPhysicalDeviceVariablePointersFeatures,
               OFF(variablePointersStorageBuffer) OFF(variablePointers)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, VkPhysicalDeviceTimelineSemaphoreFeatures,
               OFF(timelineSemaphore)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
               VkPhysicalDeviceBufferDeviceAddressFeatures, OFF(bufferDeviceAddress)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES,
               VkPhysicalDeviceScalarBlockLayoutFeatures, OFF(scalarBlockLayout)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
               VkPhysicalDeviceVulkanMemoryModelFeatures, OFF(vulkanMemoryModel) OFF(vulkanMemoryModelDeviceScope)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
               VkPhysicalDeviceSubgroupSizeControlFeatures, OFF(subgroupSizeControl) OFF(computeFullSubgroups)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES,
               VkPhysicalDeviceShaderIntegerDotProductFeatures, OFF(shaderIntegerDotProduct)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES, VkPhysicalDeviceSynchronization2Features,
               OFF(synchronization2)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_EXTENDED_TYPES_FEATURES,
               VkPhysicalDeviceShaderSubgroupExtendedTypesFeatures, OFF(shaderSubgroupExtendedTypes)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES, VkPhysicalDeviceHostQueryResetFeatures,
               OFF(hostQueryReset)),
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT,
               VkPhysicalDeviceShaderAtomicFloatFeaturesEXT,
               OFF(shaderBufferFloat32Atomics) OFF(shaderBufferFloat32AtomicAdd) OFF(shaderSharedFloat32Atomics)
                   OFF(shaderSharedFloat32AtomicAdd)),
#ifdef VK_KHR_cooperative_matrix
      FEATURES(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR,
               VkPhysicalDeviceCooperativeMatrixFeaturesKHR, OFF(cooperativeMatrix)),
#endif
  };
  return table;
}

void narrow_feature_struct(const FeatureStruct& known, void* features) {
  known.narrow(features);
  if (config().all_features_off())
    std::memset(static_cast<char*>(features) + sizeof(VkBaseOutStructure), 0, known.size - sizeof(VkBaseOutStructure));
}

const FeatureStruct* find_feature_struct(int type) {
  for (const FeatureStruct& known : feature_structs())
    if (known.type == type) return &known;
  return nullptr;
}

}  // namespace

void narrow(VkPhysicalDeviceProperties& p) {
  if (config().has("api")) {
    unsigned major = 1, minor = 0, patch = 0;
    std::sscanf(config().text("api").c_str(), "%u.%u.%u", &major, &minor, &patch);
    p.apiVersion = std::min(p.apiVersion, VK_MAKE_API_VERSION(0, major, minor, patch));
  }
  if (config().has("name")) std::snprintf(p.deviceName, sizeof p.deviceName, "%s", config().text("name").c_str());
  if (config().has("vendor")) p.vendorID = static_cast<uint32_t>(config().number("vendor"));
  if (config().has("type")) p.deviceType = device_type(config().text("type"));
  narrow_limits(p.limits);
}

void narrow(VkPhysicalDeviceFeatures& f) {
  if (config().all_features_off()) {
    // Every conformant device has this one.
    const VkBool32 robust = f.robustBufferAccess;
    f = {};
    f.robustBufferAccess = robust;
  }
  OFF(shaderFloat64)
  OFF(shaderInt64)
  OFF(shaderInt16)
  OFF(robustBufferAccess)
  OFF(shaderStorageBufferArrayDynamicIndexing)
  OFF(shaderUniformBufferArrayDynamicIndexing)
  OFF(vertexPipelineStoresAndAtomics)
  OFF(fragmentStoresAndAtomics)
  OFF(sparseBinding)
  OFF(pipelineStatisticsQuery)
  OFF(shaderStorageImageWriteWithoutFormat)
  OFF(shaderStorageImageExtendedFormats)
}
#undef OFF
#undef FEATURES

void narrow(VkQueueFamilyProperties& family) {
  if (config().is("timestamps", "0")) family.timestampValidBits = 0;
  if (config().is("queues", "compute")) family.queueFlags &= ~static_cast<VkQueueFlags>(VK_QUEUE_GRAPHICS_BIT);
}

void narrow_property_chain(void* chain) {
  for (auto* s = static_cast<VkBaseOutStructure*>(chain); s; s = s->pNext) {
    switch (static_cast<int>(s->sType)) {
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES: {
        auto* p = reinterpret_cast<VkPhysicalDeviceSubgroupProperties*>(s);
        another("subgroupSize", p->subgroupSize);
        only_bits("subgroupOperations", p->supportedOperations);
        only_bits("subgroupStages", p->supportedStages);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES: {
        auto* p = reinterpret_cast<VkPhysicalDeviceVulkan11Properties*>(s);
        another("subgroupSize", p->subgroupSize);
        only_bits("subgroupOperations", p->subgroupSupportedOperations);
        only_bits("subgroupStages", p->subgroupSupportedStages);
        at_most("maxMemoryAllocationSize", p->maxMemoryAllocationSize);
        at_most("maxPerSetDescriptors", p->maxPerSetDescriptors);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES: {
        auto* p = reinterpret_cast<VkPhysicalDeviceMaintenance3Properties*>(s);
        at_most("maxMemoryAllocationSize", p->maxMemoryAllocationSize);
        at_most("maxPerSetDescriptors", p->maxPerSetDescriptors);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES:
        at_most("maxBufferSize", reinterpret_cast<VkPhysicalDeviceMaintenance4Properties*>(s)->maxBufferSize);
        break;
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES: {
        auto* p = reinterpret_cast<VkPhysicalDeviceVulkan13Properties*>(s);
        at_most("maxBufferSize", p->maxBufferSize);
        another("subgroupSize", p->minSubgroupSize);
        another("subgroupSize", p->maxSubgroupSize);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES: {
        auto* p = reinterpret_cast<VkPhysicalDeviceSubgroupSizeControlProperties*>(s);
        another("subgroupSize", p->minSubgroupSize);
        another("subgroupSize", p->maxSubgroupSize);
        break;
      }
      default: break;
    }
  }
}

void narrow_feature_chain(void* chain) {
  for (auto* s = static_cast<VkBaseOutStructure*>(chain); s; s = s->pNext) {
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) {
      narrow(reinterpret_cast<VkPhysicalDeviceFeatures2*>(s)->features);
    } else if (const FeatureStruct* known = find_feature_struct(s->sType)) {
      narrow_feature_struct(*known, s);
    }
  }
}

int first_refused_feature(const VkDeviceCreateInfo& info) {
  // Narrowing what is asked for must change nothing.
  const auto refused = [](const VkPhysicalDeviceFeatures& asked) {
    VkPhysicalDeviceFeatures allowed = asked;
    narrow(allowed);
    return std::memcmp(&allowed, &asked, sizeof asked) != 0;
  };
  if (info.pEnabledFeatures && refused(*info.pEnabledFeatures)) return VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  for (auto* s = static_cast<const VkBaseInStructure*>(info.pNext); s; s = s->pNext) {
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) {
      if (refused(reinterpret_cast<const VkPhysicalDeviceFeatures2*>(s)->features)) return s->sType;
    } else if (const FeatureStruct* known = find_feature_struct(s->sType)) {
      std::vector<uint64_t> copy((known->size + 7) / 8);  // words, for alignment
      std::memcpy(copy.data(), s, known->size);
      narrow_feature_struct(*known, copy.data());
      if (std::memcmp(copy.data(), s, known->size) != 0) return s->sType;
    }
  }
  return -1;
}

bool discrete_memory() { return config().is("memory", "discrete"); }

uint32_t real_memory_type(const VkPhysicalDeviceMemoryProperties& driver) {
  const VkMemoryPropertyFlags needed = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  for (uint32_t i = 0; i < driver.memoryTypeCount; ++i)
    if ((driver.memoryTypes[i].propertyFlags & needed) == needed) return i;
  return 0;
}

void narrow(VkPhysicalDeviceMemoryProperties& m) {
  if (const MemoryTypes* const types = MemoryTypes::get()) return types->show(m);
  if (config().is("memory", "noncoherent")) {
    for (uint32_t i = 0; i < m.memoryTypeCount; ++i) {
      VkMemoryPropertyFlags& flags = m.memoryTypes[i].propertyFlags;
      if ((flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0) continue;
      flags &= ~static_cast<VkMemoryPropertyFlags>(VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
      flags |= VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    }
  }
  if (config().has("heap")) {
    for (uint32_t i = 0; i < m.memoryHeapCount; ++i)
      if (m.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
        m.memoryHeaps[i].size = std::min<VkDeviceSize>(m.memoryHeaps[i].size, config().number("heap") << 20);
  }
  if (discrete_memory()) {
    const VkDeviceSize size = m.memoryHeaps[m.memoryTypes[real_memory_type(m)].heapIndex].size;
    m = {};
    m.memoryHeapCount = 2;
    m.memoryHeaps[0] = {size, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    m.memoryHeaps[1] = {VkDeviceSize{16} << 30, 0};
    m.memoryTypeCount = 2;
    m.memoryTypes[0] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
    m.memoryTypes[1] = {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, 1};
  }
}

void narrow_memory_chain(void* chain, const VkPhysicalDeviceMemoryProperties& driver) {
  VkPhysicalDeviceMemoryProperties pretended = driver;
  narrow(pretended);
  for (auto* s = static_cast<VkBaseOutStructure*>(chain); s; s = s->pNext) {
    if (s->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) continue;
    auto* budget = reinterpret_cast<VkPhysicalDeviceMemoryBudgetPropertiesEXT*>(s);
    if (const MemoryTypes* const types = MemoryTypes::get()) {
      types->show(*budget);
      continue;
    }
    if (discrete_memory()) {
      const uint32_t real_heap = driver.memoryTypes[real_memory_type(driver)].heapIndex;
      std::swap(budget->heapBudget[0], budget->heapBudget[real_heap]);
      std::swap(budget->heapUsage[0], budget->heapUsage[real_heap]);
      budget->heapBudget[1] = pretended.memoryHeaps[1].size;
      budget->heapUsage[1] = 0;
    }
    for (uint32_t i = 0; i < pretended.memoryHeapCount; ++i)
      budget->heapBudget[i] = std::min(budget->heapBudget[i], pretended.memoryHeaps[i].size);
  }
}

}  // namespace lapilli::lab
