// The position-wise feed-forward sublayer.
#pragma once

#include "model/blocks/block.hpp"

namespace lapilli::model {

// x + fc2(act(fc1(h))), in place of x; gated: x + fc2(act(fc1(h)) * gate(h)).
graph::TensorId feed_forward(Builder& b, const std::string& label, const StackConfig& stack, const LayerWeights& w,
                             const Sublayer& in);

}  // namespace lapilli::model
