// "activation": see basic.hpp.
#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/rows/activation_math.hpp"
#include "ops/rows/basic.hpp"
#include "ops/rows/elementwise_util.hpp"

namespace lapilli {
namespace activation_impl {
namespace {

struct Push {
  LAPILLI_PUSH_BEHIND(elementwise::Push, vectors, float scale;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(elementwise::expect_activation(node));
  LAPILLI_CHECK(expect_input(g, node, 0, {"x"}));
  const auto& x = g.tensor(node.inputs[0]);
  LAPILLI_CHECK(expect_output(g, node, 0, {"y", x.rows, x.cols}));
  if (g.root(node.outputs[0]) == g.root(node.inputs[0])) return node_error(node, "does not work in place");
  if (x.ld % 4 != 0 || g.tensor(node.outputs[0]).ld != x.ld) return node_error(node, "rows are not whole vectors");
  return {};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}, true));
  const auto a = node.attributes.as<ElementwiseAttributes>();
  const auto [local, each] = v.numbers;
  LAPILLI_TRY(const auto slices,
              elementwise::slices(context, node, context.graph.tensor(node.outputs[0]), uint64_t{4} * local * each));
  for (const auto& s : slices) {
    Dispatch d;
    d.shader = ShaderId::activation;
    d.constants = {local, each, static_cast<uint32_t>(a.activation)};
    d.set_push(Push{elementwise::bind_vectors(context, s, {node.inputs[0], graph::Access::read},
                                              {node.outputs[0], graph::Access::write}, d),
                    a.scale});
    d.cost = 16.0 * static_cast<double>(s.end - s.begin);
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<ElementwiseAttributes>();
  const auto& x = values.at(node.inputs[0]).f;
  auto& y = values.at(node.outputs[0]).f;
  // Padding stays zero: every activation is 0 at 0.
  for (uint64_t i = 0; i < g.tensor(node.outputs[0]).elements(); ++i) y[i] = a.scale * activate(a.activation, x[i]);
}

struct CaseShape {
  uint64_t rows = 0, cols = 0, live = 0;  // live: 0: all rows
};

OpCase make_case(Activation kind, const CaseShape& shape, double scale, const std::string& what = "") {
  OpCase c;
  const auto [rows, cols, live] = shape;
  c.name = format("%s %ux%u%s", elementwise::name(kind), rows, cols, what);
  c.tolerance = 1e-6;
  CaseRandom random(rows * 1000 + cols);
  const auto x = c.graph.activation("x", rows, cols);
  c.graph.tensor(x).live_rows = live != 0;
  ops::activation(c.graph, c.name, x, kind);
  if (live) c.live_rows = live;
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random, scale));
  return c;
}

// Evenly spaced values from -range to range, including exact zero, and some far outside.
OpCase make_sweep(Activation kind, double range, double tolerance) {
  constexpr int kSteps = 4096;
  auto c = make_case(kind, {1, 2 * kSteps + 9}, 1, format(" up to %g", range));
  c.tolerance = tolerance;
  auto& x = c.inputs[0].second.f;
  for (int i = -kSteps; i <= kSteps; ++i)
    x[static_cast<size_t>(i + kSteps)] = static_cast<double>(static_cast<float>(i * range / kSteps));
  const double far[] = {-3e4, -1e3, -90, -13.5, 13.5, 90, 1e3, 3e4};
  for (size_t i = 0; i < 8; ++i) x[2 * kSteps + 1 + i] = far[i];
  return c;
}

OpCase make_scaled(const CaseShape& shape) {
  OpCase c;
  const auto [rows, cols, live] = shape;
  c.name = format("scale %ux%u", rows, cols);
  CaseRandom random(rows * 1000 + cols);
  const auto x = c.graph.activation("x", rows, cols);
  c.graph.tensor(x).live_rows = live != 0;
  ops::scale(c.graph, c.name, x, 0.176776695f);
  if (live) c.live_rows = live;
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random, 8));
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (uint32_t i = 0; i <= static_cast<uint32_t>(kLastActivation); ++i) {
    const auto kind = static_cast<Activation>(i);
    all.push_back(make_case(kind, {5, 67}, 4));
    // Vulkan only guarantees a tanh as precise as a quotient of sums of exp, each within 3 + 2 |x| ULP: 1e-6 at 1.
    const bool tanh = kind == Activation::tanh || kind == Activation::gelu_tanh;
    all.push_back(make_sweep(kind, 1, tanh ? 1e-6 : 4e-7));
    all.push_back(make_sweep(kind, 12, 1e-6));
  }
  for (const uint64_t cols : {1, 513, 4099})
    for (const uint64_t rows : {1, 17}) all.push_back(make_case(Activation::relu, {rows, cols}, 3));
  all.push_back(make_case(Activation::silu, {2, 33001}, 8));
  all.push_back(make_case(Activation::gelu_tanh, {9, 2053, 4}, 4, " live"));
  all.push_back(make_scaled({5, 67}));
  all.push_back(make_scaled({9, 2053, 4}));
  return all;
}

constexpr OpDef op{"activation", infer, only_variant<Tuned::elementwise, "vectors">, lower, reference, cases};

}  // namespace
}  // namespace activation_impl

constinit const OpDef activation_op = activation_impl::op;

graph::TensorId ops::activation(graph::Graph& g, const std::string& label, graph::TensorId x, Activation activation) {
  const auto y = g.rows_like(label, x, g.tensor(x).cols);
  g.add_node({&activation_op, label, {x}, {y}, graph::Attributes(ElementwiseAttributes{activation})});
  return y;
}

graph::TensorId ops::scale(graph::Graph& g, const std::string& label, graph::TensorId x, float factor) {
  const auto y = g.rows_like(label, x, g.tensor(x).cols);
  g.add_node({&activation_op, label, {x}, {y}, graph::Attributes(ElementwiseAttributes{Activation::none, factor})});
  return y;
}

}  // namespace lapilli
