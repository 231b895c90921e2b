// Layer normalization as part of nodes: its own, or products that normalize their rows (products/row_parts.hpp).
#pragma once

#include <vector>

#include "ops/core/op.hpp"
#include "ops/rows/basic.hpp"

namespace lapilli {

extern const OpDef layer_norm_op;

// y = the normalization of x; `weight` is laid out as for "layer_norm".
struct RowNorm {
  graph::TensorId x = graph::kNone, weight = graph::kNone, y = graph::kNone;
  LayerNormAttributes how;
};
// Words of the weight for `cols` columns.
uint64_t norm_words(const LayerNormAttributes& how, uint64_t cols);
// Emits one dispatch or several, with `local` invocations per row: a power of two up to 128.
Status lower_row_norm(const LowerContext& context, const graph::Node& node, const RowNorm& norm, uint32_t local,
                      std::vector<Dispatch>& out);
void row_norm_reference(const graph::Graph& g, const RowNorm& norm, HostTensors& values);

}  // namespace lapilli
