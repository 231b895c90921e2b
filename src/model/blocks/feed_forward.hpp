// The position-wise feed-forward sublayer.
#pragma once

#include "model/blocks/block.hpp"

namespace lapilli::model {

// x + fc2(act(fc1(h))), in place of x. `h` is x itself in post-norm networks, its normalization in pre-norm ones.
graph::TensorId feed_forward(Builder& b, const std::string& label, const LayerWeights& w, uint32_t ffn,
                             graph::TensorId h, graph::TensorId x, bool live_rows);

}  // namespace lapilli::model
