// Input of the first layer from ids: scaled embedding, position, and normalization if there is one.
#pragma once

#include "model/blocks/block.hpp"
#include "ops/products/embed.hpp"

namespace lapilli::model {

// The ids: [rows] of them, or the lineage in a step. `step_or_spans` tells which rows they are, depending on `layout`
// of the attributes. `types`: the rows' token types, if sources tell these.
struct IdRows {
  graph::TensorId ids = graph::kNone, step_or_spans = graph::kNone;
  uint64_t rows = 0;
  graph::TensorId types = graph::kNone;
};
// Attributes from the stack's configuration; the caller fills in the rows' layout (layout, rows_per_slot, lineage
// strides).
EmbedAttributes embed_attributes(const StackConfig& stack, uint32_t vocabulary);
// `side` ("encoder", "decoder") names the nodes.
graph::TensorId embed_rows(Builder& b, const std::string& side, const IdRows& rows, const EmbedAttributes& attributes);

}  // namespace lapilli::model
