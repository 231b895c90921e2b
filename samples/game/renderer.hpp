// Draws a frame into a picture: the scene by one shader, letters and panels by another.
#pragma once

#include <array>
#include <memory>

#include "resources.hpp"
#include "text.hpp"

namespace game {

// One of those in flight, used again once the device is through with it.
struct Frame {
  VkCommandBuffer commands = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;
  std::unique_ptr<Buffer> quads;
  uint64_t serial = 0;  // of the work that Lapilli appended; 0: none
};

struct View {
  float time = 0;  // of the scene, in seconds
  float dim = 1;   // 1: as it is, 0: black
};

// Throws where Vulkan fails.
class Renderer {
 public:
  static constexpr size_t kFramesInFlight = 2;
  static constexpr size_t kMostQuads = 4096;  // of a frame; what is more is not drawn

  Renderer(Gpu& gpu, VkExtent2D size, const Font& font);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  // Waits until the device is through with the frame that was begun kFramesInFlight frames ago.
  Frame& wait_for_frame();
  // The frame's commands are open from here on, to the call of end_commands().
  void begin_commands(Frame& frame);
  void draw(Frame& frame, View view, const std::vector<Quad>& quads);
  void end_commands(Frame& frame);
  // `submit` is complete but for the commands.
  void submit(Frame& frame, VkSubmitInfo submit);

  const Picture& picture() const { return picture_; }
  std::array<Frame, kFramesInFlight>& frames() { return frames_; }
  // The device is through with it, or it was never submitted.
  bool is_over(const Frame& frame) const;

 private:
  void make_pass();
  void make_layout(const Font& font);
  void make_descriptors();
  void make_frames();

  Gpu& gpu_;
  Picture picture_, atlas_;
  VkRenderPass pass_ = VK_NULL_HANDLE;
  VkFramebuffer framebuffer_ = VK_NULL_HANDLE;
  VkSampler sampler_ = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkDescriptorPool descriptors_ = VK_NULL_HANDLE;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline scene_ = VK_NULL_HANDLE, letters_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::array<Frame, kFramesInFlight> frames_;
  size_t next_ = 0;
};

}  // namespace game
