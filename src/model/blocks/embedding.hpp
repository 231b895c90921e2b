// From ids to what enters the first layer: scaled embedding, position, and its normalization where there is one.
#pragma once

#include "model/blocks/block.hpp"
#include "ops/products/embed.hpp"

namespace lapilli::model {

// Where the ids are: [rows] of them, or in a step the lineage. What says which rows they are, by `place` of the
// attributes.
struct IdRows {
  graph::TensorId ids = graph::kNone, step_or_spans = graph::kNone;
  uint64_t rows = 0;
};
// What the stack's configuration says; the caller fills in where rows lie (place, rows_per_slot, lineage strides).
EmbedAttributes embed_attributes(const StackConfig& stack, uint32_t vocabulary);
// `side` ("encoder", "decoder") names the nodes.
graph::TensorId embed_rows(Builder& b, const std::string& side, const IdRows& rows, const EmbedAttributes& attributes);

}  // namespace lapilli::model
