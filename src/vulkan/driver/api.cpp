#include "vulkan/driver/api.hpp"

#include <string>

namespace lapilli::vulkan {
namespace {

// Tries the core name, then the function's former extension name.
template <class F, class Get, class Handle>
F find(Get get, Handle handle, const char* name) {
  auto f = get(handle, name);
  if (!f) f = get(handle, (std::string(name) + "KHR").c_str());
  return reinterpret_cast<F>(f);
}

}  // namespace

Result<InstanceTable> load_instance_table(PFN_vkGetInstanceProcAddr get, VkInstance instance) {
  InstanceTable t;
#define LAPILLI_LOAD(name)                                            \
  t.name = reinterpret_cast<PFN_vk##name>(get(instance, "vk" #name)); \
  if (!t.name) return fail(ErrorCode::no_device, "the Vulkan loader lacks vk%s", #name);
#define LAPILLI_LOAD_OPTIONAL(name) t.name = find<PFN_vk##name>(get, instance, "vk" #name);
  LAPILLI_INSTANCE_FUNCTIONS(LAPILLI_LOAD)
  LAPILLI_INSTANCE_OPTIONAL(LAPILLI_LOAD_OPTIONAL)
#undef LAPILLI_LOAD
#undef LAPILLI_LOAD_OPTIONAL
  return t;
}

Result<DeviceTable> load_device_table(PFN_vkGetDeviceProcAddr get, VkDevice device) {
  DeviceTable t;
#define LAPILLI_LOAD(name)                                          \
  t.name = reinterpret_cast<PFN_vk##name>(get(device, "vk" #name)); \
  if (!t.name) return fail(ErrorCode::no_device, "the Vulkan driver lacks vk%s", #name);
  LAPILLI_DEVICE_FUNCTIONS(LAPILLI_LOAD)
#define LAPILLI_LOAD_OPTIONAL(name) t.name = find<PFN_vk##name>(get, device, "vk" #name);
  LAPILLI_DEVICE_OPTIONAL(LAPILLI_LOAD_OPTIONAL)
#undef LAPILLI_LOAD
#undef LAPILLI_LOAD_OPTIONAL
  return t;
}

const char* result_name(VkResult result) {
  switch (result) {
#define LAPILLI_NAME(x) \
  case x: return #x;
    LAPILLI_NAME(VK_SUCCESS)
    LAPILLI_NAME(VK_NOT_READY)
    LAPILLI_NAME(VK_TIMEOUT)
    LAPILLI_NAME(VK_INCOMPLETE)
    LAPILLI_NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
    LAPILLI_NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    LAPILLI_NAME(VK_ERROR_INITIALIZATION_FAILED)
    LAPILLI_NAME(VK_ERROR_DEVICE_LOST)
    LAPILLI_NAME(VK_ERROR_MEMORY_MAP_FAILED)
    LAPILLI_NAME(VK_ERROR_LAYER_NOT_PRESENT)
    LAPILLI_NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
    LAPILLI_NAME(VK_ERROR_FEATURE_NOT_PRESENT)
    LAPILLI_NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
    LAPILLI_NAME(VK_ERROR_TOO_MANY_OBJECTS)
    LAPILLI_NAME(VK_ERROR_FRAGMENTED_POOL)
    LAPILLI_NAME(VK_ERROR_OUT_OF_POOL_MEMORY)
    LAPILLI_NAME(VK_ERROR_FRAGMENTATION)
    LAPILLI_NAME(VK_ERROR_INVALID_SHADER_NV)
    LAPILLI_NAME(VK_ERROR_UNKNOWN)
#undef LAPILLI_NAME
    default: return "an unknown VkResult";
  }
}

ErrorCode error_code(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTATION:
    case VK_ERROR_MEMORY_MAP_FAILED: return ErrorCode::out_of_memory;
    case VK_ERROR_DEVICE_LOST: return ErrorCode::device_lost;
    case VK_TIMEOUT: return ErrorCode::timeout;
    case VK_ERROR_INCOMPATIBLE_DRIVER: return ErrorCode::no_device;
    default: return ErrorCode::internal;
  }
}

Failure vk_error(VkResult result, const std::string& what) {
  const ErrorCode code = error_code(result);
  std::string text = what + ": " + result_name(result);
  if (code == ErrorCode::internal) text += format(" (%d)", static_cast<int>(result));
  if (code == ErrorCode::out_of_memory) text += "; free memory, or use a smaller batch, beam or model";
  if (code == ErrorCode::device_lost) text += "; the device must be made again";
  return Error{code, std::move(text)};
}

}  // namespace lapilli::vulkan
