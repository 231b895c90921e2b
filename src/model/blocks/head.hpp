// Heads of a model that writes nothing: scores of ids or classes, vectors, numbers for each source or each of its
// rows.
#pragma once

#include "model/blocks/block.hpp"

namespace lapilli::model {

// Keeps "pooler_output" and "logits" if the model has them. `x` has the rows of at most `sources` sources, as in
// `spans`.
void keep_heads(Builder& b, graph::TensorId x, graph::TensorId spans, uint32_t sources);

}  // namespace lapilli::model
