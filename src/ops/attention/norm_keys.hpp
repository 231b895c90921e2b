// Norms of keys that are not rotated: those of an encoder's output.
#pragma once

#include "graph/graph.hpp"
#include "ops/core/kv_layout.hpp"

namespace lapilli {

// "norm_keys": each head of the keys that linear_kv() has written with the same shape (RowLayout::batch or spans) is
// divided by its root mean square and multiplied with weights, in place; values stay.
// inputs: kv, weights as those of "rotate" (only those of keys count), spans or kNone. outputs: kv.
struct NormKeysAttributes {
  KvShape kv;
  uint32_t rows = 0;       // that the product had
  uint32_t live_rows = 0;  // 1: the grid follows the live ones
  float epsilon = 0;
};

namespace ops {
struct NormKeysOperands {
  graph::TensorId kv = graph::kNone, weights = graph::kNone, spans = graph::kNone;
};
void norm_keys(graph::Graph& g, const std::string& label, const NormKeysOperands& operands,
               const NormKeysAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
