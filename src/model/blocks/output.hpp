// Logits of ids from the hidden states of the last stack.
#pragma once

#include "model/blocks/block.hpp"

namespace lapilli::model {

// x behind the layer between last stack and output projection; x itself in models without it.
graph::TensorId output_states(Builder& b, graph::TensorId x);
// logits [rows, target vocabulary] of x [rows, d_model].
graph::TensorId output_logits(Builder& b, graph::TensorId x);
// The same where each row counts some ids alone, in models whose logits are a product and nothing else.
graph::TensorId listed_logits(Builder& b, graph::TensorId x, graph::TensorId masks);

}  // namespace lapilli::model
