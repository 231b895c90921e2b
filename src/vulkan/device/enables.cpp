#include "vulkan/device/enables.hpp"

namespace lapilli::vulkan {
namespace {

constexpr uint32_t kNeverCore = ~uint32_t{0};  // never core: needs the extension in every version

}  // namespace

Enables::Enables(const Snapshot& s, const Capabilities& caps) {
  const uint32_t version = s.caps.api_version;
  const auto extension = [&](const char* name) {
    if (s.has(name)) extensions.push_back(name);
  };
  const auto feature = [&](auto& next, uint32_t core, const char* name) {
    next.pNext = features.pNext;
    features.pNext = &next;
    if (version < core) extension(name);
  };
  extension("VK_KHR_portability_subset");  // must be enabled if it is offered
  if (caps.memory_budget) extension(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  if (caps.storage_16bit) {
    storage16.storageBuffer16BitAccess = VK_TRUE;
    feature(storage16, VK_API_VERSION_1_1, "");
  }
  if (caps.storage_8bit) {
    storage8.storageBuffer8BitAccess = VK_TRUE;
    feature(storage8, VK_API_VERSION_1_2, VK_KHR_8BIT_STORAGE_EXTENSION_NAME);
  }
  if (caps.arithmetic_fp16 || caps.arithmetic_int8) {
    small.shaderFloat16 = caps.arithmetic_fp16;
    small.shaderInt8 = caps.arithmetic_int8;
    feature(small, VK_API_VERSION_1_2, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME);
  }
  if (caps.timeline_semaphore) {
    timeline.timelineSemaphore = VK_TRUE;
    feature(timeline, VK_API_VERSION_1_2, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME);
  }
  if (caps.integer_dot) {
    dot.shaderIntegerDotProduct = VK_TRUE;
    feature(dot, VK_API_VERSION_1_3, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
  }
  if (has_cooperative_matrix(caps)) {
    cooperative.cooperativeMatrix = VK_TRUE;
    feature(cooperative, kNeverCore, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    memory_model.vulkanMemoryModel = VK_TRUE;
    feature(memory_model, VK_API_VERSION_1_2, VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME);
  }
  if (caps.subgroup_size_control) {
    size.subgroupSizeControl = VK_TRUE;
    feature(size, VK_API_VERSION_1_3, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  }
}

}  // namespace lapilli::vulkan
