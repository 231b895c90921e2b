// Logits of ids from the hidden states of the last stack.
#pragma once

#include "model/blocks/block.hpp"

namespace lapilli::model {

// logits [rows, target vocabulary] of x [rows, d_model].
graph::TensorId output_logits(Builder& b, graph::TensorId x);

}  // namespace lapilli::model
