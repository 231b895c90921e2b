// The two graphics pipelines.
#pragma once

#include "gpu.hpp"

namespace game {

struct PipelineUse {
  VkPipelineLayout layout;
  VkRenderPass pass;
  VkExtent2D size;  // of the picture
};

// One triangle without vertex buffers, over the whole picture.
VkPipeline make_scene_pipeline(const Gpu& gpu, const PipelineUse& use);
// A rectangle for each Quad, as an instance of four vertices, blended over what is there.
VkPipeline make_letter_pipeline(const Gpu& gpu, const PipelineUse& use);

}  // namespace game
