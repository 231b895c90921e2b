#include "resources.hpp"

#include <cstring>

namespace game {
namespace {

uint32_t find_memory(const Gpu& gpu, uint32_t types, VkMemoryPropertyFlags wanted) {
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(gpu.physical, &memory);
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i)
    if ((types >> i & 1) && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
  throw std::runtime_error("the device has no memory of a type that the game needs");
}

VkDeviceMemory allocate(const Gpu& gpu, const VkMemoryRequirements& needs, VkMemoryPropertyFlags wanted) {
  VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  info.allocationSize = needs.size;
  info.memoryTypeIndex = find_memory(gpu, needs.memoryTypeBits, wanted);
  VkDeviceMemory memory = VK_NULL_HANDLE;
  check(vkAllocateMemory(gpu.device, &info, nullptr, &memory), "vkAllocateMemory");
  return memory;
}

}  // namespace

Buffer::Buffer(Gpu& gpu, VkDeviceSize bytes, VkBufferUsageFlags usage) : gpu_(gpu) {
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = bytes;
  info.usage = usage;
  check(vkCreateBuffer(gpu.device, &info, nullptr, &buffer_), "vkCreateBuffer");
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(gpu.device, buffer_, &needs);
  memory_ = allocate(gpu, needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
  check(vkBindBufferMemory(gpu.device, buffer_, memory_, 0), "vkBindBufferMemory");
  check(vkMapMemory(gpu.device, memory_, 0, VK_WHOLE_SIZE, 0, &data_), "vkMapMemory");
}

Buffer::~Buffer() {
  vkDestroyBuffer(gpu_.device, buffer_, nullptr);
  vkFreeMemory(gpu_.device, memory_, nullptr);
}

Picture::Picture(Gpu& gpu, VkExtent2D size, VkFormat format, VkImageUsageFlags usage) : gpu_(gpu), size_(size) {
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = format;
  info.extent = {size.width, size.height, 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = usage;
  check(vkCreateImage(gpu.device, &info, nullptr, &image_), "vkCreateImage");
  VkMemoryRequirements needs;
  vkGetImageMemoryRequirements(gpu.device, image_, &needs);
  memory_ = allocate(gpu, needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  check(vkBindImageMemory(gpu.device, image_, memory_, 0), "vkBindImageMemory");
  VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = image_;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = format;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  check(vkCreateImageView(gpu.device, &view, nullptr, &view_), "vkCreateImageView");
}

Picture::~Picture() {
  vkDestroyImageView(gpu_.device, view_, nullptr);
  vkDestroyImage(gpu_.device, image_, nullptr);
  vkFreeMemory(gpu_.device, memory_, nullptr);
}

void change_layout(VkCommandBuffer commands, VkImage image, const Change& change) {
  VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  barrier.srcAccessMask = change.written;
  barrier.dstAccessMask = change.wanted;
  barrier.oldLayout = change.from;
  barrier.newLayout = change.to;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image;
  barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  constexpr VkPipelineStageFlags kAll = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  vkCmdPipelineBarrier(commands, kAll, kAll, 0, 0, nullptr, 0, nullptr, 1, &barrier);
}

void run_once(Gpu& gpu, const std::function<void(VkCommandBuffer)>& record) {
  VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool_info.queueFamilyIndex = gpu.family;
  VkCommandPool pool = VK_NULL_HANDLE;
  check(vkCreateCommandPool(gpu.device, &pool_info, nullptr, &pool), "vkCreateCommandPool");
  VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  check(vkAllocateCommandBuffers(gpu.device, &info, &commands), "vkAllocateCommandBuffers");
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  record(commands);
  check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  check(gpu.submit(submit, VK_NULL_HANDLE), "vkQueueSubmit");
  gpu.wait_idle();
  vkDestroyCommandPool(gpu.device, pool, nullptr);
}

void upload(Gpu& gpu, const Picture& picture, const void* bytes, VkDeviceSize count) {
  const Buffer staging(gpu, count, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
  std::memcpy(staging.data(), bytes, count);
  VkBufferImageCopy copy{};
  copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  copy.imageExtent = {picture.size().width, picture.size().height, 1};
  constexpr VkImageLayout kFilled = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
  run_once(gpu, [&](VkCommandBuffer commands) {
    change_layout(commands, picture.image(), {VK_IMAGE_LAYOUT_UNDEFINED, kFilled, 0, VK_ACCESS_TRANSFER_WRITE_BIT});
    vkCmdCopyBufferToImage(commands, staging.handle(), picture.image(), kFilled, 1, &copy);
    change_layout(
        commands, picture.image(),
        {kFilled, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, VK_ACCESS_TRANSFER_WRITE_BIT, VK_ACCESS_SHADER_READ_BIT});
  });
}

std::vector<uint8_t> download(Gpu& gpu, const Picture& picture) {
  const VkExtent2D size = picture.size();
  const size_t bytes = size_t{4} * size.width * size.height;
  const Buffer copied(gpu, bytes, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  VkBufferImageCopy copy{};
  copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  copy.imageExtent = {size.width, size.height, 1};
  constexpr VkImageLayout kRead = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
  run_once(gpu, [&](VkCommandBuffer commands) {
    change_layout(commands, picture.image(),
                  {kRead, kRead, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_ACCESS_TRANSFER_READ_BIT});
    vkCmdCopyImageToBuffer(commands, picture.image(), kRead, copied.handle(), 1, &copy);
    VkMemoryBarrier seen{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    seen.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    seen.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &seen, 0, nullptr,
                         0, nullptr);
  });
  const uint8_t* pixels = static_cast<const uint8_t*>(copied.data());
  return {pixels, pixels + bytes};
}

}  // namespace game
