// Gates as parts of nodes: their own, or products that gate their rows (products/row_parts.hpp).
#pragma once

#include <vector>

#include "ops/core/op.hpp"
#include "ops/rows/basic.hpp"

namespace lapilli {

extern const OpDef gate_op;

// y = the gated rows of x; both are laid out as for "gate".
struct RowGate {
  graph::TensorId x = graph::kNone, y = graph::kNone;
  Activation activation = Activation::none;
};

Status infer_row_gate(const graph::Graph& g, const graph::Node& node, const RowGate& gate);
// Emits one dispatch or several, with the numbers of "gate" on this device.
Status lower_row_gate(const LowerContext& context, const graph::Node& node, const RowGate& gate,
                      std::vector<Dispatch>& out);
void row_gate_reference(const graph::Graph& g, const RowGate& gate, HostTensors& values);

}  // namespace lapilli
