#include "swapchain.hpp"

#include <algorithm>

namespace game {
namespace {

VkSemaphore make_semaphore(const Gpu& gpu) {
  const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
  VkSemaphore semaphore = VK_NULL_HANDLE;
  check(vkCreateSemaphore(gpu.device, &info, nullptr, &semaphore), "vkCreateSemaphore");
  return semaphore;
}

// One that shows numbers as they are, as the picture is made of such; else the first.
VkSurfaceFormatKHR choose_format(const Gpu& gpu) {
  uint32_t count = 0;
  check(vkGetPhysicalDeviceSurfaceFormatsKHR(gpu.physical, gpu.surface, &count, nullptr), "formats of the window");
  std::vector<VkSurfaceFormatKHR> all(count);
  check(vkGetPhysicalDeviceSurfaceFormatsKHR(gpu.physical, gpu.surface, &count, all.data()), "formats of the window");
  if (all.empty()) throw std::runtime_error("the window has no formats");
  for (const VkSurfaceFormatKHR& format : all)
    if (format.format == VK_FORMAT_B8G8R8A8_UNORM || format.format == VK_FORMAT_R8G8B8A8_UNORM) return format;
  return all[0];
}

}  // namespace

Swapchain::Swapchain(Gpu& gpu, const Window& window) : gpu_(gpu), window_(window) {
  for (VkSemaphore& semaphore : acquired_) semaphore = make_semaphore(gpu);
}

Swapchain::~Swapchain() {
  vkDeviceWaitIdle(gpu_.device);  // there is nothing to be done about an error
  drop();
  for (VkSemaphore semaphore : acquired_) vkDestroySemaphore(gpu_.device, semaphore, nullptr);
}

void Swapchain::drop() {
  for (VkSemaphore semaphore : drawn_) vkDestroySemaphore(gpu_.device, semaphore, nullptr);
  drawn_.clear();
  if (swapchain_) vkDestroySwapchainKHR(gpu_.device, swapchain_, nullptr);
  swapchain_ = VK_NULL_HANDLE;
}

VkSwapchainCreateInfoKHR Swapchain::describe(VkExtent2D size) const {
  VkSurfaceCapabilitiesKHR can;
  check(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(gpu_.physical, gpu_.surface, &can), "asking the window");
  const VkSurfaceFormatKHR format = choose_format(gpu_);
  VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
  info.surface = gpu_.surface;
  info.minImageCount = std::max(can.minImageCount, std::min(3u, can.maxImageCount ? can.maxImageCount : 3u));
  info.imageFormat = format.format;
  info.imageColorSpace = format.colorSpace;
  info.imageExtent = can.currentExtent.width == UINT32_MAX ? size : can.currentExtent;
  info.imageArrayLayers = 1;
  info.imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  info.preTransform = can.currentTransform;
  info.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
  info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
  info.clipped = VK_TRUE;
  return info;
}

void Swapchain::make(VkExtent2D size) {
  gpu_.wait_idle();
  drop();
  asked_ = size;
  const VkSwapchainCreateInfoKHR info = describe(size);
  size_ = info.imageExtent;
  if (size_.width == 0 || size_.height == 0) return;
  check(vkCreateSwapchainKHR(gpu_.device, &info, nullptr, &swapchain_), "vkCreateSwapchainKHR");
  uint32_t count = 0;
  check(vkGetSwapchainImagesKHR(gpu_.device, swapchain_, &count, nullptr), "vkGetSwapchainImagesKHR");
  images_.resize(count);
  check(vkGetSwapchainImagesKHR(gpu_.device, swapchain_, &count, images_.data()), "vkGetSwapchainImagesKHR");
  for (uint32_t i = 0; i < count; ++i) drawn_.push_back(make_semaphore(gpu_));
}

bool Swapchain::show(Frame& frame, const Picture& picture) {
  const VkExtent2D now = window_.size();
  if (now.width == 0 || now.height == 0) return false;
  if (!swapchain_ || now.width != asked_.width || now.height != asked_.height) make(now);
  if (!swapchain_) return false;
  const VkSemaphore acquired = acquired_[turn_];
  const VkResult r = vkAcquireNextImageKHR(gpu_.device, swapchain_, UINT64_MAX, acquired, VK_NULL_HANDLE, &image_);
  if (r == VK_ERROR_OUT_OF_DATE_KHR) return make(now), false;
  check(r, "vkAcquireNextImageKHR");
  constexpr VkImageLayout kFilled = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
  change_layout(frame.commands, images_[image_], {VK_IMAGE_LAYOUT_UNDEFINED, kFilled, 0, VK_ACCESS_TRANSFER_WRITE_BIT});
  VkImageBlit blit{};
  blit.srcSubresource = blit.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  blit.srcOffsets[1] = {int32_t(picture.size().width), int32_t(picture.size().height), 1};
  blit.dstOffsets[1] = {int32_t(size_.width), int32_t(size_.height), 1};
  vkCmdBlitImage(frame.commands, picture.image(), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, images_[image_], kFilled, 1,
                 &blit, VK_FILTER_LINEAR);
  change_layout(frame.commands, images_[image_],
                {kFilled, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, VK_ACCESS_TRANSFER_WRITE_BIT, 0});
  return true;
}

void Swapchain::submit(Renderer& renderer, Frame& frame) {
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  // The scene, and what Lapilli appended, need not wait for the window's image.
  const VkPipelineStageFlags where = VK_PIPELINE_STAGE_TRANSFER_BIT;
  submit.waitSemaphoreCount = submit.signalSemaphoreCount = 1;
  submit.pWaitSemaphores = &acquired_[turn_];
  submit.pWaitDstStageMask = &where;
  submit.pSignalSemaphores = &drawn_[image_];
  renderer.submit(frame, submit);
  turn_ = (turn_ + 1) % acquired_.size();
  VkPresentInfoKHR present{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
  present.waitSemaphoreCount = present.swapchainCount = 1;
  present.pWaitSemaphores = &drawn_[image_];
  present.pSwapchains = &swapchain_;
  present.pImageIndices = &image_;
  const std::lock_guard lock(gpu_.queue_mutex);
  const VkResult r = vkQueuePresentKHR(gpu_.queue, &present);
  if (r == VK_ERROR_OUT_OF_DATE_KHR)
    asked_ = {};  // made anew for the next frame
  else
    check(r, "vkQueuePresentKHR");
}

}  // namespace game
