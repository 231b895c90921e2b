// Normalizations and gates that are part of a product of rows, or nodes of their own.
#pragma once

#include "ops/rows/gate.hpp"
#include "ops/rows/layer_norm.hpp"

namespace lapilli {

// For a "layer_norm" node, or a product that has one.
RowNorm norm_of(const graph::Node& node);
// Merges a normalization into the product: `product` reads norm.y.
graph::Node normalizing(graph::Node product, const RowNorm& norm);

// For a "gate" node, or a product that has one.
RowGate gate_of(const graph::Node& node);
// Merges a gate into the product: `product` reads gate.y.
graph::Node gating(graph::Node product, const RowGate& gate);

}  // namespace lapilli
