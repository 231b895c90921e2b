// "gate": see basic.hpp.
#include "ops/activation_math.hpp"
#include "ops/basic.hpp"
#include "ops/case_util.hpp"
#include "ops/elementwise_util.hpp"
#include "ops/lower_util.hpp"
#include "ops/registry.hpp"
#include "ops/tuning.hpp"

namespace lapilli {
namespace {

struct Push {
  LAPILLI_PUSH_BEHIND(elementwise::Push, vectors, uint32_t x_line;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(elementwise::expect_activation(node));
  LAPILLI_CHECK(expect_output(g, node, 0, {"y"}));
  const auto& y = g.tensor(node.outputs[0]);
  LAPILLI_CHECK(expect_input(g, node, 0, {"x", y.rows, gate_value_column(y.cols) + y.cols}));
  const auto& x = g.tensor(node.inputs[0]);
  if (x.ld != 2 * y.ld || y.ld != gate_value_column(y.cols)) return node_error(node, "rows are not whole vectors");
  return {};
}

std::vector<Variant> variants(const Capabilities& caps, const graph::Graph&, const graph::Node&) {
  return {{0, "vectors", true, default_numbers(caps, Tuned::elementwise)}};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}, true));
  const auto a = node.attributes.as<ElementwiseAttributes>();
  const auto [local, each] = v.numbers;
  const auto &x = context.graph.tensor(node.inputs[0]), &y = context.graph.tensor(node.outputs[0]);
  const uint64_t per_row = div_up<uint64_t>(y.ld, uint64_t{4} * local * each);
  LAPILLI_TRY(const auto slices, row_slices(context, node, y.rows, {x.ld * 4, per_row}));
  for (const auto& s : slices) {
    Dispatch d;
    d.shader = ShaderId::gate;
    d.constants = {local, each, static_cast<uint32_t>(a.activation)};
    d.groups = (s.end - s.begin) * per_row;
    if (y.live_rows && slices.size() == 1) follow_live_rows(d, static_cast<uint32_t>(per_row), 1);
    uint32_t dx = 0, dy = 0;
    d.operands.push_back(
        bind_range(context, 0, {node.inputs[0], s.begin * x.ld * 4, s.end * x.ld * 4, graph::Access::read}, dx));
    d.operands.push_back(
        bind_range(context, 1, {node.outputs[0], s.begin * y.ld * 4, s.end * y.ld * 4, graph::Access::write}, dy));
    d.set_push(Push{{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(per_row), static_cast<uint32_t>(y.ld / 4),
                     dx / 4, dy / 4},
                    static_cast<uint32_t>(x.ld / 4)});
    d.cost = 16.0 * static_cast<double>((s.end - s.begin) * y.ld);
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<ElementwiseAttributes>();
  const auto &tx = g.tensor(node.inputs[0]), &ty = g.tensor(node.outputs[0]);
  const auto& x = values.at(node.inputs[0]).f;
  auto& y = values.at(node.outputs[0]).f;
  for (uint64_t r = 0; r < ty.rows; ++r)
    for (uint64_t c = 0; c < ty.ld; ++c)
      y[r * ty.ld + c] =
          c < ty.cols ? activate(a.activation, x[r * tx.ld + c]) * x[r * tx.ld + gate_value_column(ty.cols) + c] : 0.0;
}

OpCase make_case(Activation kind, uint64_t rows, uint64_t cols, uint64_t live = 0) {
  OpCase c;
  c.name = format("%s %llux%llu%s", elementwise::name(kind), static_cast<unsigned long long>(rows),
                  static_cast<unsigned long long>(cols), live ? " live" : "");
  c.tolerance = 2e-6;
  CaseRandom random(rows * 1000 + cols);
  const auto x = c.graph.activation("x", rows, gate_value_column(cols) + cols);
  c.graph.tensor(x).live_rows = live != 0;
  ops::gate(c.graph, c.name, x, cols, kind);
  if (live) c.live_rows = live;
  auto values = random_values(c.graph.tensor(x), random, 4);
  // The gap comes out of zero columns.
  for (uint64_t r = 0; r < rows; ++r)
    for (uint64_t i = cols; i < gate_value_column(cols); ++i) values.f[r * c.graph.tensor(x).ld + i] = 0;
  c.inputs.emplace_back(x, std::move(values));
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const auto kind :
       {Activation::none, Activation::relu, Activation::gelu_erf, Activation::gelu_tanh, Activation::silu})
    all.push_back(make_case(kind, 5, 67));
  for (const uint64_t cols : {1, 60, 513, 4099})
    for (const uint64_t rows : {1, 17}) all.push_back(make_case(Activation::gelu_tanh, rows, cols));
  all.push_back(make_case(Activation::gelu_tanh, 9, 2053, 4));
  return all;
}

}  // namespace

constinit const OpDef gate_op{"gate", infer, variants, lower, reference, cases};

graph::TensorId ops::gate(graph::Graph& g, const std::string& label, graph::TensorId x, uint64_t cols,
                          Activation activation) {
  const auto y = g.rows_like(label, x, cols);
  g.add_node({&gate_op, label, {x}, {y}, graph::Attributes(ElementwiseAttributes{activation})});
  return y;
}

}  // namespace lapilli
