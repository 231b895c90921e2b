// The encoder stack, shared by the encode and the forward graph.
#pragma once

#include "model/blocks/block.hpp"

namespace lapilli::model {

struct EncoderRun {
  uint32_t batch = 0, length = 0;
  bool keep_hidden_states = false, keep_attentions = false;
};
// Returns the memory [batch * length, d_model].
graph::TensorId build_encoder(Builder& b, const EncoderRun& run);

// x after a sublayer: normalized in post-norm networks, itself in pre-norm ones; and what a sublayer reads.
graph::TensorId after_sublayer(Builder& b, const std::string& label, WeightIndex norm, graph::TensorId x,
                               bool live_rows);
graph::TensorId before_sublayer(Builder& b, const std::string& label, WeightIndex norm, graph::TensorId x,
                                bool live_rows);

}  // namespace lapilli::model
