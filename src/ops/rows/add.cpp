// "add": see basic.hpp.
#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/rows/basic.hpp"
#include "ops/rows/elementwise_util.hpp"

namespace lapilli {
namespace add_impl {
namespace {

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(expect_input(g, node, 0, {"x"}));
  const auto& x = g.tensor(node.inputs[0]);
  LAPILLI_CHECK(expect_input(g, node, 1, {"y", x.rows, x.cols}));
  LAPILLI_CHECK(expect_output(g, node, 0, {"x", x.rows, x.cols}));
  if (g.root(node.outputs[0]) != g.root(node.inputs[0])) return node_error(node, "works in place only");
  if (g.root(node.inputs[1]) == g.root(node.inputs[0])) return node_error(node, "x and y share their bytes");
  if (x.ld % 4 != 0 || g.tensor(node.inputs[1]).ld != x.ld) return node_error(node, "rows are not whole vectors");
  return {};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}, true));
  const auto [local, each] = v.numbers;
  LAPILLI_TRY(const auto slices,
              elementwise::slices(context, node, context.graph.tensor(node.outputs[0]), uint64_t{4} * local * each));
  for (const auto& s : slices) {
    Dispatch d;
    d.shader = ShaderId::add;
    d.constants = {local, each};
    d.set_push(elementwise::bind_vectors(context, s, {node.outputs[0], graph::Access::read_write},
                                         {node.inputs[1], graph::Access::read}, d));
    d.cost = 2.0 * static_cast<double>(s.end - s.begin);
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto& y = values.at(node.inputs[1]).f;
  auto& x = values.at(node.outputs[0]).f;
  for (uint64_t i = 0; i < g.tensor(node.outputs[0]).elements(); ++i) x[i] += y[i];
}

OpCase make_case(uint64_t rows, uint64_t cols, uint64_t live = 0) {
  OpCase c;
  c.name = format("%ux%u%s", rows, cols, live ? " live" : "");
  c.tolerance = 1e-6;
  CaseRandom random(rows * 1000 + cols);
  const auto x = c.graph.activation("x", rows, cols), y = c.graph.activation("y", rows, cols);
  c.graph.tensor(x).live_rows = c.graph.tensor(y).live_rows = live != 0;
  ops::add(c.graph, c.name, x, y);
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random, 3));
  c.inputs.emplace_back(y, random_values(c.graph.tensor(y), random, 3));
  if (live) c.live_rows = live;
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const uint64_t cols : {1, 7, 64, 513, 4099})
    for (const uint64_t rows : {1, 5, 17}) all.push_back(make_case(rows, cols));
  all.push_back(make_case(8, 96, 3));
  all.push_back(make_case(7, 2053, 5));
  all.push_back(make_case(3, 64, 3));
  all.push_back(make_case(2, 65001));
  return all;
}

constexpr OpDef op{"add", infer, only_variant<Tuned::elementwise, "vectors">, lower, reference, cases};

}  // namespace
}  // namespace add_impl

constinit const OpDef add_op = add_impl::op;

graph::TensorId ops::add(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId y) {
  const auto sum = g.updated(label, x);
  g.add_node({&add_op, label, {x, y}, {sum}, {}});
  return sum;
}

}  // namespace lapilli
