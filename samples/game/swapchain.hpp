// Shows the renderer's picture in a window.
#pragma once

#include "renderer.hpp"
#include "window.hpp"

namespace game {

// Throws where Vulkan fails.
class Swapchain {
 public:
  Swapchain(Gpu& gpu, const Window& window);
  ~Swapchain();
  Swapchain(const Swapchain&) = delete;
  Swapchain& operator=(const Swapchain&) = delete;

  // Into the frame's commands, behind what is drawn: the picture is copied to the window's next image. False: there is
  // no image now (minimized, or the size has changed), and the frame is not shown.
  bool show(Frame& frame, const Picture& picture);
  // Instead of Renderer::submit(), if show() said true.
  void submit(Renderer& renderer, Frame& frame);

 private:
  void make(VkExtent2D size);
  void drop();
  VkSwapchainCreateInfoKHR describe(VkExtent2D size) const;

  Gpu& gpu_;
  const Window& window_;
  VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
  VkExtent2D asked_{}, size_{};  // of the window, when the swapchain was made; of its images
  std::vector<VkImage> images_;
  // One for each image: presenting an image again says that the last presentation of it is through with its semaphore.
  std::vector<VkSemaphore> drawn_;
  std::array<VkSemaphore, Renderer::kFramesInFlight> acquired_{};
  size_t turn_ = 0;
  uint32_t image_ = 0;
};

}  // namespace game
