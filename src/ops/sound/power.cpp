// "power": see sound.hpp.
#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/rows/basic.hpp"
#include "ops/rows/elementwise_util.hpp"
#include "ops/sound/sound.hpp"

namespace lapilli {
namespace power_impl {
namespace {

Status infer(const graph::Graph& g, const graph::Node& node) { return elementwise::expect_halves(g, node); }

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}, true));
  return elementwise::lower_halves(context, node, {ShaderId::power, {v.numbers.local, v.numbers.each}, 4.0}, out);
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  elementwise::join_halves(g, node, values, [](double a, double b) { return a * a + b * b; });
}

OpCase make_case(uint64_t rows, uint64_t cols) {
  OpCase c;
  c.name = format("%ux%u", rows, cols);
  c.tolerance = 2e-6;
  CaseRandom random(rows * 1000 + cols);
  const auto x = c.graph.activation("x", rows, gate_value_column(cols) + cols);
  ops::power(c.graph, c.name, x, cols);
  c.inputs.emplace_back(x, elementwise::random_halves(c.graph.tensor(x), cols, random));
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const uint64_t cols : {1, 4, 201, 257, 2051})
    for (const uint64_t rows : {1, 7}) all.push_back(make_case(rows, cols));
  return all;
}

constexpr OpDef op{"power", infer, only_variant<Tuned::elementwise, "vectors">, lower, reference, cases};

}  // namespace
}  // namespace power_impl

constinit const OpDef power_op = power_impl::op;

graph::TensorId ops::power(graph::Graph& g, const std::string& label, graph::TensorId x, uint64_t cols) {
  const auto y = g.rows_like(label, x, cols);
  g.add_node({&power_op, label, {x}, {y}, {}});
  return y;
}

}  // namespace lapilli
