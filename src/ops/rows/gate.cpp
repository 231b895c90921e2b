// "gate": see basic.hpp.
#include "ops/rows/gate.hpp"

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/rows/activation_math.hpp"
#include "ops/rows/elementwise_util.hpp"

namespace lapilli {
namespace gate_impl {
namespace {

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(elementwise::expect_activation(node, kLastGate));
  return elementwise::expect_halves(g, node);
}

std::vector<Variant> variants(const Capabilities& caps, const graph::Graph&, const graph::Node&) {
  return {{0, "vectors", true, default_numbers(caps, Tuned::elementwise)}};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}, true));
  const auto a = node.attributes.as<ElementwiseAttributes>();
  const auto [local, each] = v.numbers;
  return elementwise::lower_halves(context, node,
                                   {ShaderId::gate, {local, each, static_cast<uint32_t>(a.activation)}, 16.0}, out);
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<ElementwiseAttributes>();
  elementwise::join_halves(g, node, values, [&](double x, double y) { return activate(a.activation, x) * y; });
}

OpCase make_case(Activation kind, uint64_t rows, uint64_t cols, uint64_t live = 0) {
  OpCase c;
  c.name = format("%s %ux%u%s", elementwise::name(kind), rows, cols, live ? " live" : "");
  c.tolerance = 2e-6;
  CaseRandom random(rows * 1000 + cols);
  const auto x = c.graph.activation("x", rows, gate_value_column(cols) + cols);
  c.graph.tensor(x).live_rows = live != 0;
  ops::gate(c.graph, c.name, x, cols, kind);
  if (live) c.live_rows = live;
  c.inputs.emplace_back(x, elementwise::random_halves(c.graph.tensor(x), cols, random, 4));
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const auto kind : {Activation::none, Activation::relu, Activation::gelu_erf, Activation::gelu_tanh,
                          Activation::silu, Activation::sigmoid})
    all.push_back(make_case(kind, 5, 67));
  for (const uint64_t cols : {1, 60, 513, 4099})
    for (const uint64_t rows : {1, 17}) all.push_back(make_case(Activation::gelu_tanh, rows, cols));
  all.push_back(make_case(Activation::gelu_tanh, 9, 2053, 4));
  return all;
}

constexpr OpDef op{"gate", infer, variants, lower, reference, cases};

}  // namespace
}  // namespace gate_impl

constinit const OpDef gate_op = gate_impl::op;

namespace {

// A node of its own.
graph::Node alone(const std::string& label, const RowGate& gate) {
  return {&gate_op, label, {gate.x}, {gate.y}, graph::Attributes(ElementwiseAttributes{gate.activation})};
}

}  // namespace

Status infer_row_gate(const graph::Graph& g, const graph::Node& node, const RowGate& gate) {
  return gate_op.infer(g, alone(node.label, gate));
}

Status lower_row_gate(const LowerContext& context, const graph::Node& node, const RowGate& gate,
                      std::vector<Dispatch>& out) {
  const graph::Node apart = alone(node.label, gate);
  return gate_op.lower(context, apart, gate_op.variants(context.caps, context.graph, apart).front(), out);
}

void row_gate_reference(const graph::Graph& g, const RowGate& gate, HostTensors& values) {
  gate_op.reference(g, alone("gate", gate), values);
}

graph::TensorId ops::gate(graph::Graph& g, const std::string& label, graph::TensorId x, uint64_t cols,
                          Activation activation) {
  const auto y = g.rows_like(label, x, cols);
  g.add_node({&gate_op, label, {x}, {y}, graph::Attributes(ElementwiseAttributes{activation})});
  return y;
}

}  // namespace lapilli
