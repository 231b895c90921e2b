// Matrix products with packed weights: many rows (encoder, prefill) and few (decode) are one op with several variants.
//
//   y[r, n] = act(sum_k x[r, k] W[k, n] + b[n]) (+ residual[r, n])
//
// Fused epilogues: bias, activation, residual (in place), and the split that sends the first `q_columns` columns to a
// plain tensor and the rest to a KV tensor (cache write).
#pragma once

#include "graph/graph.hpp"
#include "ops/core/activations.hpp"
#include "ops/core/kv_layout.hpp"
#include "ops/core/weight_layout.hpp"

namespace lapilli {

// A normalization of x's rows ahead of the product: a preceding "layer_norm" that became part of it.
enum class NormFirst : uint32_t { none, layer, rms };

// Attributes of a "matmul" node, whose rows may first be normalized or gated, but not both. inputs: x (gated rows: as
// for "gate"), weight, residual or kNone, step state, spans or kNone (by `kv.layout`), and the weight of the
// normalization if there is one.
// outputs: y [rows, n] — or q [rows, q_columns] (kNone if q_columns is 0) and the KV tensor. With a normalization or a
// gate, the third output holds the multiplied rows: `scratch` if no other node reads them, which is always so for gated
// rows. The split form has no gate.
// In the split form the columns after q_columns are, per head, head_dim keys and head_dim values. If these are fp16
// (KvLayout), q_columns is even, since neighbours share a word, and the depth is one piece, since a sum is rounded
// once.
struct MatmulAttributes {
  uint32_t n = 0, k = 0;
  Activation activation = Activation::none;
  uint32_t split = 0;  // 1: the split form
  uint32_t q_columns = 0;
  KvShape kv;
  NormFirst norm = NormFirst::none;
  float epsilon = 0;   // of the normalization
  uint32_t gated = 0;  // 1: rows are gated first
  Activation gate = Activation::none;
};
// Operands of a node's normalization or gate.
constexpr size_t kNormWeightInput = 4, kMultipliedOutput = 2;

namespace ops {
// Returns a new activation [rows, n]. `weight` is a packed tensor (WeightLayout) of n columns, as deep as x is wide, in
// any format.
struct LinearColumns {
  LinearColumns(uint32_t count, Activation f = Activation::none) : n(count), activation(f) {}  // NOLINT
  uint32_t n;
  Activation activation;
};
graph::TensorId linear(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId weight,
                       LinearColumns to);
// Adds x W + b to the residual, in place.
graph::TensorId linear_add(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId weight,
                           graph::TensorId residual);
// The split form: returns q (kNone if q_columns is 0); kv is updated in place. RowLayout::step needs the step state,
// and RowLayout::spans (without q) the spans.
struct KvTarget {
  uint32_t q_columns = 0;
  graph::TensorId kv = graph::kNone;
  KvShape shape;
  graph::TensorId step_or_spans = graph::kNone;
};
graph::TensorId linear_kv(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId weight,
                          const KvTarget& to);
}  // namespace ops

}  // namespace lapilli
