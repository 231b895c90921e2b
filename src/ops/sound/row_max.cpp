// "row_max": see sound.hpp.
#include <algorithm>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/sound/sound.hpp"

namespace lapilli {
namespace row_max_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, cols, ld, x_begin, y_begin;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(expect_input(g, node, 0, {"x"}));
  const auto& x = g.tensor(node.inputs[0]);
  LAPILLI_CHECK(expect_output(g, node, 0, {"y", x.rows, 1}));
  if (g.tensor(node.outputs[0]).ld != 4) return node_error(node, "y is not a column of vectors");
  return {};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, kHalving));
  const auto& t = context.graph.tensor(node.inputs[0]);
  const uint64_t row = t.ld * 4;
  LAPILLI_TRY(const auto slices, row_slices(context, node, t.rows, {std::max<uint64_t>(row, 16), 1}));
  for (const auto& s : slices) {
    Dispatch d;
    d.shader = ShaderId::row_max;
    d.constants = {v.numbers.local};
    d.groups = s.end - s.begin;
    uint32_t dx = 0, dy = 0;
    d.operands = {bind_range(context, 0, {node.inputs[0], s.begin * row, s.end * row, graph::Access::read}, dx),
                  bind_range(context, 1, {node.outputs[0], s.begin * 16, s.end * 16, graph::Access::write}, dy)};
    d.set_push(
        Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(t.cols), static_cast<uint32_t>(t.ld), dx, dy / 4});
    d.cost = 2.0 * static_cast<double>(d.groups * t.ld);
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto& t = g.tensor(node.inputs[0]);
  const auto& x = values.at(node.inputs[0]).f;
  auto& y = values.at(node.outputs[0]).f;
  for (uint64_t r = 0; r < t.rows; ++r) {
    double most = static_cast<double>(state::MASKED);
    for (uint64_t c = 0; c < t.cols; ++c) most = std::max(most, x[r * t.ld + c]);
    for (uint64_t c = 0; c < 4; ++c) y[4 * r + c] = c == 0 ? most : 0.0;
  }
}

OpCase make_case(uint64_t rows, uint64_t cols) {
  OpCase c;
  c.name = format("%ux%u", rows, cols);
  c.tolerance = 1e-300;
  CaseRandom random(rows * 1000 + cols);
  const auto x = c.graph.activation("x", rows, cols);
  ops::row_max(c.graph, c.name, x);
  auto values = random_values(c.graph.tensor(x), random, 3);
  for (uint64_t i = 0; i < cols; ++i) values.f[i] -= 10;  // below the padding's zeros
  for (auto& v : values.f) v = static_cast<double>(static_cast<float>(v));
  c.inputs.emplace_back(x, std::move(values));
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const uint64_t cols : {1, 3, 80, 131, 1031})
    for (const uint64_t rows : {1, 19}) all.push_back(make_case(rows, cols));
  return all;
}

constexpr OpDef op{"row_max", infer, only_variant<Tuned::row_sums, "workgroup a row">, lower, reference, cases};

}  // namespace
}  // namespace row_max_impl

constinit const OpDef row_max_op = row_max_impl::op;

graph::TensorId ops::row_max(graph::Graph& g, const std::string& label, graph::TensorId x) {
  const auto y = g.activation(label, g.tensor(x).rows, 1);
  g.add_node({&row_max_op, label, {x}, {y}, {}});
  return y;
}

}  // namespace lapilli
