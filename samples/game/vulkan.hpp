// Vulkan's functions by their usual names, from the loader that is opened at run time: a build needs its headers alone.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

#include <stdexcept>
#include <string>

namespace game {

// The only one that exists before the loader is opened; null until then.
extern PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr;

// clang-format off
#define GAME_LOADER_FUNCTIONS(X) X(vkCreateInstance)
#define GAME_INSTANCE_FUNCTIONS(X) \
  X(vkDestroyInstance) X(vkEnumeratePhysicalDevices) X(vkGetPhysicalDeviceProperties) \
  X(vkGetPhysicalDeviceQueueFamilyProperties) X(vkGetPhysicalDeviceMemoryProperties) X(vkCreateDevice) \
  X(vkDestroyDevice) X(vkGetDeviceQueue) X(vkQueueSubmit) X(vkDeviceWaitIdle) X(vkCreateCommandPool) \
  X(vkDestroyCommandPool) X(vkAllocateCommandBuffers) X(vkBeginCommandBuffer) X(vkEndCommandBuffer) \
  X(vkCreateFence) X(vkDestroyFence) X(vkWaitForFences) X(vkResetFences) X(vkGetFenceStatus) \
  X(vkCreateSemaphore) X(vkDestroySemaphore) X(vkCreateBuffer) X(vkDestroyBuffer) X(vkCreateImage) \
  X(vkDestroyImage) X(vkGetBufferMemoryRequirements) X(vkGetImageMemoryRequirements) X(vkAllocateMemory) \
  X(vkFreeMemory) X(vkMapMemory) X(vkBindBufferMemory) X(vkBindImageMemory) X(vkCreateImageView) \
  X(vkDestroyImageView) X(vkCreateSampler) X(vkDestroySampler) X(vkCreateRenderPass) X(vkDestroyRenderPass) \
  X(vkCreateFramebuffer) X(vkDestroyFramebuffer) X(vkCreateShaderModule) X(vkDestroyShaderModule) \
  X(vkCreateDescriptorSetLayout) X(vkDestroyDescriptorSetLayout) X(vkCreateDescriptorPool) \
  X(vkDestroyDescriptorPool) X(vkAllocateDescriptorSets) X(vkUpdateDescriptorSets) X(vkCreatePipelineLayout) \
  X(vkDestroyPipelineLayout) X(vkCreateGraphicsPipelines) X(vkDestroyPipeline) X(vkCmdBeginRenderPass) \
  X(vkCmdEndRenderPass) X(vkCmdBindPipeline) X(vkCmdBindDescriptorSets) X(vkCmdBindVertexBuffers) \
  X(vkCmdPushConstants) X(vkCmdSetViewport) X(vkCmdSetScissor) X(vkCmdDraw) X(vkCmdPipelineBarrier) \
  X(vkCmdCopyBufferToImage) X(vkCmdCopyImageToBuffer) X(vkCmdBlitImage)
// Null without a window.
#define GAME_WINDOW_FUNCTIONS(X) \
  X(vkDestroySurfaceKHR) X(vkGetPhysicalDeviceSurfaceSupportKHR) X(vkGetPhysicalDeviceSurfaceCapabilitiesKHR) \
  X(vkGetPhysicalDeviceSurfaceFormatsKHR) X(vkCreateSwapchainKHR) X(vkDestroySwapchainKHR) \
  X(vkGetSwapchainImagesKHR) X(vkAcquireNextImageKHR) X(vkQueuePresentKHR)
// clang-format on

#define GAME_DECLARE(name) extern PFN_##name name;
GAME_LOADER_FUNCTIONS(GAME_DECLARE)
GAME_INSTANCE_FUNCTIONS(GAME_DECLARE)
GAME_WINDOW_FUNCTIONS(GAME_DECLARE)
#undef GAME_DECLARE

// Opens the loader and sets vkGetInstanceProcAddr and vkCreateInstance. Throws where there is none.
void open_vulkan();
// Sets the others. Throws where one is missing that is not of a window.
void load_vulkan(VkInstance instance);

// Throws "WHAT: Vulkan error N" unless it worked.
void check(VkResult result, const char* what);

}  // namespace game
