// Vulkan's types and our own function tables: one per loader, instance and device. Only src/vulkan includes it.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

#include "base/result.hpp"
#include "vulkan/driver/cooperative_matrix.hpp"

namespace lapilli::vulkan {

// Required entry points; an instance or device that lacks one is refused.
#define LAPILLI_INSTANCE_FUNCTIONS(X)       \
  X(DestroyInstance)                        \
  X(EnumeratePhysicalDevices)               \
  X(GetPhysicalDeviceProperties)            \
  X(GetPhysicalDeviceMemoryProperties)      \
  X(GetPhysicalDeviceQueueFamilyProperties) \
  X(EnumerateDeviceExtensionProperties)     \
  X(GetDeviceProcAddr)                      \
  X(CreateDevice)
// May be null: Vulkan 1.0 instances, extensions.
#define LAPILLI_INSTANCE_OPTIONAL(X)                 \
  X(GetPhysicalDeviceProperties2)                    \
  X(GetPhysicalDeviceFeatures2)                      \
  X(GetPhysicalDeviceMemoryProperties2)              \
  X(GetPhysicalDeviceCooperativeMatrixPropertiesKHR) \
  X(CreateDebugUtilsMessengerEXT)                    \
  X(DestroyDebugUtilsMessengerEXT)

#define LAPILLI_DEVICE_FUNCTIONS(X) \
  X(DestroyDevice)                  \
  X(GetDeviceQueue)                 \
  X(AllocateMemory)                 \
  X(FreeMemory)                     \
  X(MapMemory)                      \
  X(FlushMappedMemoryRanges)        \
  X(InvalidateMappedMemoryRanges)   \
  X(CreateBuffer)                   \
  X(DestroyBuffer)                  \
  X(CreateBufferView)               \
  X(DestroyBufferView)              \
  X(GetBufferMemoryRequirements)    \
  X(BindBufferMemory)               \
  X(CreateShaderModule)             \
  X(DestroyShaderModule)            \
  X(CreatePipelineCache)            \
  X(DestroyPipelineCache)           \
  X(CreateComputePipelines)         \
  X(DestroyPipeline)                \
  X(CreatePipelineLayout)           \
  X(DestroyPipelineLayout)          \
  X(CreateDescriptorSetLayout)      \
  X(DestroyDescriptorSetLayout)     \
  X(CreateDescriptorPool)           \
  X(DestroyDescriptorPool)          \
  X(AllocateDescriptorSets)         \
  X(UpdateDescriptorSets)           \
  X(CreateCommandPool)              \
  X(DestroyCommandPool)             \
  X(ResetCommandPool)               \
  X(AllocateCommandBuffers)         \
  X(BeginCommandBuffer)             \
  X(EndCommandBuffer)               \
  X(CmdBindPipeline)                \
  X(CmdBindDescriptorSets)          \
  X(CmdPushConstants)               \
  X(CmdDispatch)                    \
  X(CmdDispatchIndirect)            \
  X(CmdPipelineBarrier)             \
  X(CmdCopyBuffer)                  \
  X(CmdFillBuffer)                  \
  X(CmdExecuteCommands)             \
  X(CmdWriteTimestamp)              \
  X(CmdResetQueryPool)              \
  X(CreateQueryPool)                \
  X(DestroyQueryPool)               \
  X(GetQueryPoolResults)            \
  X(QueueSubmit)                    \
  X(CreateFence)                    \
  X(DestroyFence)                   \
  X(ResetFences)                    \
  X(GetFenceStatus)                 \
  X(WaitForFences)                  \
  X(CreateSemaphore)                \
  X(DestroySemaphore)
// Core in 1.2 or from an extension (the KHR name is tried, too), or optional.
#define LAPILLI_DEVICE_OPTIONAL(X) \
  X(GetPipelineCacheData)          \
  X(WaitSemaphores)                \
  X(GetSemaphoreCounterValue)      \
  X(CmdInsertDebugUtilsLabelEXT)   \
  X(SetDebugUtilsObjectNameEXT)

#define LAPILLI_MEMBER(name) PFN_vk##name name = nullptr;
struct LoaderTable {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
  LAPILLI_MEMBER(CreateInstance)
  LAPILLI_MEMBER(EnumerateInstanceExtensionProperties)
  LAPILLI_MEMBER(EnumerateInstanceLayerProperties)
  LAPILLI_MEMBER(EnumerateInstanceVersion)  // null on Vulkan 1.0 loaders
};
struct InstanceTable {
  LAPILLI_INSTANCE_FUNCTIONS(LAPILLI_MEMBER)
  LAPILLI_INSTANCE_OPTIONAL(LAPILLI_MEMBER)
};
struct DeviceTable {
  LAPILLI_DEVICE_FUNCTIONS(LAPILLI_MEMBER)
  LAPILLI_DEVICE_OPTIONAL(LAPILLI_MEMBER)
};
#undef LAPILLI_MEMBER

Result<InstanceTable> load_instance_table(PFN_vkGetInstanceProcAddr get, VkInstance instance);
Result<DeviceTable> load_device_table(PFN_vkGetDeviceProcAddr get, VkDevice device);

const char* result_name(VkResult result);
// The kind of error for a failed call: out of memory, device lost, time-out, otherwise internal.
ErrorCode error_code(VkResult result);
// "WHAT: VK_ERROR_...", with advice if there is any.
Failure vk_error(VkResult result, const std::string& what);

}  // namespace lapilli::vulkan
