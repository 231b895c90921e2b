// Heads of an encoder without a decoder: a summary of each source, and scores of classes.
#pragma once

#include "model/blocks/block.hpp"

namespace lapilli::model {

// `x` has the encoder's rows, `length` for each of `batch` sources. Keeps "pooler_output" and "logits" if the model has
// them.
void keep_heads(Builder& b, graph::TensorId x, uint32_t batch, uint32_t length);

}  // namespace lapilli::model
