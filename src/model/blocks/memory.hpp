// The memory of an earlier segment: the inputs that layers had for its last rows.
#pragma once

#include "model/blocks/block.hpp"
#include "model/blocks/norm.hpp"

namespace lapilli::model {

// Memories of sources, `rows` apart, and the layer whose part is wanted.
struct MemoryRows {
  uint32_t batch = 0, rows = 0, layer = 0;
};
// The layer's part, normalized where the layer normalizes its input; kNone without rows.
graph::TensorId memory_of_layer(Builder& b, const std::string& label, const NormLayer& norm, const MemoryRows& memory);

}  // namespace lapilli::model
