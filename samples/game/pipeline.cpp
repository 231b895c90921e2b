#include "pipeline.hpp"

#include <cstddef>
#include <iterator>

#include "glyph.frag.h"
#include "glyph.vert.h"
#include "scene.frag.h"
#include "scene.vert.h"
#include "text.hpp"

namespace game {
namespace {

template <size_t N>
VkShaderModule make_shader(const Gpu& gpu, const uint32_t (&words)[N]) {
  VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = sizeof words;
  info.pCode = words;
  VkShaderModule shader = VK_NULL_HANDLE;
  check(vkCreateShaderModule(gpu.device, &info, nullptr, &shader), "vkCreateShaderModule");
  return shader;
}

constexpr VkFormat kFour = VK_FORMAT_R32G32B32A32_SFLOAT;
constexpr VkVertexInputBindingDescription kInstance{0, sizeof(Quad), VK_VERTEX_INPUT_RATE_INSTANCE};
constexpr VkVertexInputAttributeDescription kFields[] = {
    {0, 0, kFour, offsetof(Quad, left)}, {1, 0, kFour, offsetof(Quad, u_left)}, {2, 0, kFour, offsetof(Quad, ink)}};

// Everything that both pipelines have in common.
struct States {
  VkPipelineShaderStageCreateInfo stages[2] = {{VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO},
                                               {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO}};
  VkPipelineVertexInputStateCreateInfo input{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  VkPipelineViewportStateCreateInfo shown{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  VkPipelineColorBlendStateCreateInfo blending{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
  VkPipelineColorBlendAttachmentState blend{};
  VkViewport viewport{};
  VkRect2D scissor{};

  States(VkShaderModule vertex, VkShaderModule fragment, VkExtent2D size) {
    stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT;
    stages[0].module = vertex;
    stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT;
    stages[1].module = fragment;
    stages[0].pName = stages[1].pName = "main";
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
    viewport = {0, 0, float(size.width), float(size.height), 0, 1};
    scissor.extent = size;
    shown.viewportCount = shown.scissorCount = 1;
    shown.pViewports = &viewport;
    shown.pScissors = &scissor;
    raster.lineWidth = 1;
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    blend.colorWriteMask = 0xf;
    blending.attachmentCount = 1;
    blending.pAttachments = &blend;
  }
  States(const States&) = delete;
  States& operator=(const States&) = delete;

  void read_quads_and_blend() {
    input.vertexBindingDescriptionCount = 1;
    input.pVertexBindingDescriptions = &kInstance;
    input.vertexAttributeDescriptionCount = static_cast<uint32_t>(std::size(kFields));
    input.pVertexAttributeDescriptions = kFields;
    blend.blendEnable = VK_TRUE;
    blend.srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA;
    blend.dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
    blend.srcAlphaBlendFactor = VK_BLEND_FACTOR_ZERO;
    blend.dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE;
  }
};

// The shaders are not needed any more.
VkPipeline make(const Gpu& gpu, const PipelineUse& use, const States& states) {
  VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
  info.stageCount = 2;
  info.pStages = states.stages;
  info.pVertexInputState = &states.input;
  info.pInputAssemblyState = &states.assembly;
  info.pViewportState = &states.shown;
  info.pRasterizationState = &states.raster;
  info.pMultisampleState = &states.samples;
  info.pColorBlendState = &states.blending;
  info.layout = use.layout;
  info.renderPass = use.pass;
  VkPipeline pipeline = VK_NULL_HANDLE;
  const VkResult made = vkCreateGraphicsPipelines(gpu.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline);
  for (const VkPipelineShaderStageCreateInfo& stage : states.stages)
    vkDestroyShaderModule(gpu.device, stage.module, nullptr);
  check(made, "vkCreateGraphicsPipelines");
  return pipeline;
}

}  // namespace

VkPipeline make_scene_pipeline(const Gpu& gpu, const PipelineUse& use) {
  return make(gpu, use, States(make_shader(gpu, scene_vert), make_shader(gpu, scene_frag), use.size));
}

VkPipeline make_letter_pipeline(const Gpu& gpu, const PipelineUse& use) {
  States states(make_shader(gpu, glyph_vert), make_shader(gpu, glyph_frag), use.size);
  states.read_quads_and_blend();
  return make(gpu, use, states);
}

}  // namespace game
