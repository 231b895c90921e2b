// The normalization or the gate that is a part of a product of rows, or a node by itself.
#pragma once

#include "ops/rows/gate.hpp"
#include "ops/rows/layer_norm.hpp"

namespace lapilli {

// Of a "layer_norm" node, or of a product that has one.
RowNorm norm_of(const graph::Node& node);
// The product of rows that are normalized, and of those that are not yet: `product` reads norm.y.
graph::Node normalizing(graph::Node product, const RowNorm& norm);

// Of a "gate" node, or of a product that has one.
RowGate gate_of(const graph::Node& node);
// The product of rows that are gated, and of those that are not yet: `product` reads gate.y.
graph::Node gating(graph::Node product, const RowGate& gate);

}  // namespace lapilli
