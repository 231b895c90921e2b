// Gates as a part of nodes: their own, and products that gate their rows.
#pragma once

#include <vector>

#include "ops/basic.hpp"
#include "ops/op.hpp"

namespace lapilli {

extern const OpDef gate_op;

// y = the gated rows of x; both as "gate" has them.
struct RowGate {
  graph::TensorId x = graph::kNone, y = graph::kNone;
  Activation activation = Activation::none;
};
// Of a "gate" node, or of a product that has one.
RowGate gate_of(const graph::Node& node);
// The product of rows that are gated, and of those that are not yet: `product` reads gate.y.
graph::Node gating(graph::Node product, const RowGate& gate);

Status infer_row_gate(const graph::Graph& g, const graph::Node& node, const RowGate& gate);
// One dispatch or several, with the numbers that "gate" has on this device.
Status lower_row_gate(const LowerContext& context, const graph::Node& node, const RowGate& gate,
                      std::vector<Dispatch>& out);
void row_gate_reference(const graph::Graph& g, const RowGate& gate, HostTensors& values);

}  // namespace lapilli
