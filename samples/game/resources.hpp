// Buffers and images with memory of their own: a game this small needs no allocator.
#pragma once

#include <functional>

#include "gpu.hpp"

namespace game {

// Mapped as long as it lives. Throws where Vulkan fails.
class Buffer {
 public:
  Buffer(Gpu& gpu, VkDeviceSize bytes, VkBufferUsageFlags usage);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  VkBuffer handle() const { return buffer_; }
  void* data() const { return data_; }

 private:
  Gpu& gpu_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  void* data_ = nullptr;
};

// A picture on the device, of one level, with its view. Throws where Vulkan fails.
class Picture {
 public:
  Picture(Gpu& gpu, VkExtent2D size, VkFormat format, VkImageUsageFlags usage);
  ~Picture();
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;
  VkImage image() const { return image_; }
  VkImageView view() const { return view_; }
  VkExtent2D size() const { return size_; }

 private:
  Gpu& gpu_;
  VkExtent2D size_;
  VkImage image_ = VK_NULL_HANDLE;
  VkImageView view_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
};

// Moves an image, or what a pass left in it, from one layout and access to the next. All stages wait: fine between
// frames, wasteful within one.
struct Change {
  VkImageLayout from, to;
  VkAccessFlags written, wanted;
};
void change_layout(VkCommandBuffer commands, VkImage image, const Change& change);

// Records, submits, and waits for it: for the start and the end of the game.
void run_once(Gpu& gpu, const std::function<void(VkCommandBuffer)>& record);

// Copies bytes of 8 bits a pixel into a picture that is then read by shaders.
void upload(Gpu& gpu, const Picture& picture, const void* bytes, VkDeviceSize count);

// Pixels (4 bytes each, row by row) of a picture in VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL.
std::vector<uint8_t> download(Gpu& gpu, const Picture& picture);

}  // namespace game
