#include "renderer.hpp"

#include <algorithm>
#include <cstring>

#include "pipeline.hpp"

namespace game {
namespace {

struct Constants {
  float width, height, time, dim;
};

constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;
constexpr VkShaderStageFlags kBothStages = VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;

}  // namespace

Renderer::Renderer(Gpu& gpu, VkExtent2D size, const Font& font)
    : gpu_(gpu),
      picture_(gpu, size, kFormat, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT),
      atlas_(gpu, {Font::kAtlasSize, Font::kAtlasSize}, VK_FORMAT_R8_UNORM,
             VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT) {
  make_pass();
  make_layout(font);
  make_descriptors();
  scene_ = make_scene_pipeline(gpu, {layout_, pass_, size});
  letters_ = make_letter_pipeline(gpu, {layout_, pass_, size});
  make_frames();
}

Renderer::~Renderer() {
  vkDeviceWaitIdle(gpu_.device);  // there is nothing to be done about an error
  for (const Frame& frame : frames_) vkDestroyFence(gpu_.device, frame.fence, nullptr);
  vkDestroyCommandPool(gpu_.device, pool_, nullptr);
  vkDestroyPipeline(gpu_.device, letters_, nullptr);
  vkDestroyPipeline(gpu_.device, scene_, nullptr);
  vkDestroyPipelineLayout(gpu_.device, layout_, nullptr);
  vkDestroyDescriptorPool(gpu_.device, descriptors_, nullptr);
  vkDestroyDescriptorSetLayout(gpu_.device, set_layout_, nullptr);
  vkDestroySampler(gpu_.device, sampler_, nullptr);
  vkDestroyFramebuffer(gpu_.device, framebuffer_, nullptr);
  vkDestroyRenderPass(gpu_.device, pass_, nullptr);
}

// ---- what is made once

// The picture is read (copied, or shown in a window) between two passes.
void Renderer::make_pass() {
  VkAttachmentDescription color{};
  color.format = kFormat;
  color.samples = VK_SAMPLE_COUNT_1_BIT;
  color.loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;  // the scene covers all of it
  color.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  color.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  color.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  color.finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
  const VkAttachmentReference drawn{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
  VkSubpassDescription subpass{};
  subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
  subpass.colorAttachmentCount = 1;
  subpass.pColorAttachments = &drawn;
  constexpr VkPipelineStageFlags kDraws = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
  constexpr VkPipelineStageFlags kReads = VK_PIPELINE_STAGE_TRANSFER_BIT;
  constexpr VkAccessFlags kWritten = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
  const VkSubpassDependency around[] = {
      {VK_SUBPASS_EXTERNAL, 0, kDraws | kReads, kDraws, kWritten | VK_ACCESS_TRANSFER_READ_BIT, kWritten, 0},
      {0, VK_SUBPASS_EXTERNAL, kDraws, kReads, kWritten, VK_ACCESS_TRANSFER_READ_BIT, 0}};
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.attachmentCount = info.subpassCount = 1;
  info.pAttachments = &color;
  info.pSubpasses = &subpass;
  info.dependencyCount = 2;
  info.pDependencies = around;
  check(vkCreateRenderPass(gpu_.device, &info, nullptr, &pass_), "vkCreateRenderPass");
  VkFramebufferCreateInfo framebuffer{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
  framebuffer.renderPass = pass_;
  framebuffer.attachmentCount = framebuffer.layers = 1;
  const VkImageView view = picture_.view();
  framebuffer.pAttachments = &view;
  framebuffer.width = picture_.size().width;
  framebuffer.height = picture_.size().height;
  check(vkCreateFramebuffer(gpu_.device, &framebuffer, nullptr, &framebuffer_), "vkCreateFramebuffer");
}

void Renderer::make_layout(const Font& font) {
  upload(gpu_, atlas_, font.atlas().data(), font.atlas().size());
  VkSamplerCreateInfo sampler{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  sampler.magFilter = sampler.minFilter = VK_FILTER_LINEAR;
  sampler.addressModeU = sampler.addressModeV = sampler.addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  check(vkCreateSampler(gpu_.device, &sampler, nullptr, &sampler_), "vkCreateSampler");
  const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1,
                                             VK_SHADER_STAGE_FRAGMENT_BIT, nullptr};
  VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set.bindingCount = 1;
  set.pBindings = &binding;
  check(vkCreateDescriptorSetLayout(gpu_.device, &set, nullptr, &set_layout_), "vkCreateDescriptorSetLayout");
  const VkPushConstantRange constants{kBothStages, 0, sizeof(Constants)};
  VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = info.pushConstantRangeCount = 1;
  info.pSetLayouts = &set_layout_;
  info.pPushConstantRanges = &constants;
  check(vkCreatePipelineLayout(gpu_.device, &info, nullptr, &layout_), "vkCreatePipelineLayout");
}

void Renderer::make_descriptors() {
  const VkDescriptorPoolSize one{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1};
  VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool.maxSets = pool.poolSizeCount = 1;
  pool.pPoolSizes = &one;
  check(vkCreateDescriptorPool(gpu_.device, &pool, nullptr, &descriptors_), "vkCreateDescriptorPool");
  VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = descriptors_;
  info.descriptorSetCount = 1;
  info.pSetLayouts = &set_layout_;
  check(vkAllocateDescriptorSets(gpu_.device, &info, &set_), "vkAllocateDescriptorSets");
  const VkDescriptorImageInfo image{sampler_, atlas_.view(), VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set_;
  write.descriptorCount = 1;
  write.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
  write.pImageInfo = &image;
  vkUpdateDescriptorSets(gpu_.device, 1, &write, 0, nullptr);
}

void Renderer::make_frames() {
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = gpu_.family;
  check(vkCreateCommandPool(gpu_.device, &pool, nullptr, &pool_), "vkCreateCommandPool");
  VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool_;
  info.commandBufferCount = 1;
  VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  fence.flags = VK_FENCE_CREATE_SIGNALED_BIT;
  for (Frame& frame : frames_) {
    check(vkAllocateCommandBuffers(gpu_.device, &info, &frame.commands), "vkAllocateCommandBuffers");
    check(vkCreateFence(gpu_.device, &fence, nullptr, &frame.fence), "vkCreateFence");
    frame.quads = std::make_unique<Buffer>(gpu_, kMostQuads * sizeof(Quad), VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
  }
}

// ---- a frame

Frame& Renderer::wait_for_frame() {
  Frame& frame = frames_[next_];
  next_ = (next_ + 1) % kFramesInFlight;
  check(vkWaitForFences(gpu_.device, 1, &frame.fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
  return frame;
}

void Renderer::begin_commands(Frame& frame) {
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(vkBeginCommandBuffer(frame.commands, &begin), "vkBeginCommandBuffer");
}

void Renderer::draw(Frame& frame, View view, const std::vector<Quad>& quads) {
  const size_t count = std::min(quads.size(), kMostQuads);
  if (count) std::memcpy(frame.quads->data(), quads.data(), count * sizeof(Quad));
  VkRenderPassBeginInfo pass{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  pass.renderPass = pass_;
  pass.framebuffer = framebuffer_;
  pass.renderArea = {{0, 0}, picture_.size()};
  vkCmdBeginRenderPass(frame.commands, &pass, VK_SUBPASS_CONTENTS_INLINE);
  const Constants constants{float(picture_.size().width), float(picture_.size().height), view.time, view.dim};
  vkCmdPushConstants(frame.commands, layout_, kBothStages, 0, sizeof constants, &constants);
  vkCmdBindPipeline(frame.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, scene_);
  vkCmdDraw(frame.commands, 3, 1, 0, 0);
  vkCmdBindPipeline(frame.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, letters_);
  vkCmdBindDescriptorSets(frame.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, layout_, 0, 1, &set_, 0, nullptr);
  const VkBuffer buffer = frame.quads->handle();
  const VkDeviceSize start = 0;
  vkCmdBindVertexBuffers(frame.commands, 0, 1, &buffer, &start);
  vkCmdDraw(frame.commands, 4, static_cast<uint32_t>(count), 0, 0);
  vkCmdEndRenderPass(frame.commands);
}

void Renderer::end_commands(Frame& frame) { check(vkEndCommandBuffer(frame.commands), "vkEndCommandBuffer"); }

void Renderer::submit(Frame& frame, VkSubmitInfo submit) {
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &frame.commands;
  check(vkResetFences(gpu_.device, 1, &frame.fence), "vkResetFences");
  check(gpu_.submit(submit, frame.fence), "vkQueueSubmit");
}

bool Renderer::is_over(const Frame& frame) const {
  const VkResult r = vkGetFenceStatus(gpu_.device, frame.fence);
  check(r, "vkGetFenceStatus");
  return r == VK_SUCCESS;
}

}  // namespace game
