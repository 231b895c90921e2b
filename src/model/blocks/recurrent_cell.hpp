// The recurrent cell that some decoders have in place of self attention.
#pragma once

#include "model/blocks/attention_block.hpp"

namespace lapilli::model {

// x + relu(cell(h)) in place of x, over whole sequences of `run` rows, which begin with cells of zeros.
graph::TensorId recurrent_cell(Builder& b, const std::string& label, const AttentionWeights& w, const Sublayer& in,
                               uint32_t run);
// The same for rows of a step or of prompts; in.kv holds the layer's cells.
graph::TensorId recurrent_cell_step(Builder& b, const std::string& label, const AttentionWeights& w, const Sublayer& in,
                                    const StepAttention& how);

}  // namespace lapilli::model
