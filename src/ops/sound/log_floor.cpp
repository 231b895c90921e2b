// "log_floor": see sound.hpp.
#include <algorithm>
#include <cmath>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/sound/sound.hpp"

namespace lapilli {
namespace log_floor_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, per_line, line, cols, x_begin, y_begin, f_begin; float floor_of_all, scale, offset;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(expect_output(g, node, 0, {"y"}));
  const auto& y = g.tensor(node.outputs[0]);
  LAPILLI_CHECK(expect_input(g, node, 0, {"x", y.rows, y.cols}));
  LAPILLI_CHECK(expect_input(g, node, 1, {"floors"}));
  LAPILLI_CHECK(expect_words(g, node, node.inputs[1], "floors", y.rows));
  if (!(node.attributes.as<LogFloorAttributes>().floor > 0)) return node_error(node, "a logarithm needs a floor");
  const auto& x = g.tensor(node.inputs[0]);
  if (x.ld != y.ld || x.ld % 4 != 0) return node_error(node, "rows are not whole vectors");
  return {};
}

Dispatch lower_slice(const LowerContext& context, const graph::Node& node, const Numbers& numbers, RowSlice s) {
  const auto a = node.attributes.as<LogFloorAttributes>();
  const auto& t = context.graph.tensor(node.outputs[0]);
  const uint64_t per_row = div_up<uint64_t>(t.ld, uint64_t{4} * numbers.local * numbers.each), row = t.ld * 4;
  Dispatch d;
  d.shader = ShaderId::log_floor;
  d.constants = {numbers.local, numbers.each};
  d.groups = (s.end - s.begin) * per_row;
  uint32_t dx = 0, df = 0, dy = 0;
  d.operands = {bind_range(context, 0, {node.inputs[0], s.begin * row, s.end * row, graph::Access::read}, dx),
                bind_range(context, 1, {node.inputs[1], s.begin * 4, s.end * 4, graph::Access::read}, df),
                bind_range(context, 2, {node.outputs[0], s.begin * row, s.end * row, graph::Access::write}, dy)};
  d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(per_row), static_cast<uint32_t>(t.ld / 4),
                  static_cast<uint32_t>(t.cols), dx / 4, dy / 4, df, a.floor, a.scale, a.offset});
  d.cost = 8.0 * static_cast<double>((s.end - s.begin) * t.ld);
  return d;
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}, true));
  const auto& t = context.graph.tensor(node.outputs[0]);
  const uint64_t per_row = div_up<uint64_t>(t.ld, uint64_t{4} * v.numbers.local * v.numbers.each);
  LAPILLI_TRY(const auto slices, row_slices(context, node, t.rows, {t.ld * 4, per_row}));
  for (const auto& s : slices) out.push_back(lower_slice(context, node, v.numbers, s));
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<LogFloorAttributes>();
  const auto& t = g.tensor(node.outputs[0]);
  const auto &x = values.at(node.inputs[0]).f, &floors = values.at(node.inputs[1]).f;
  auto& y = values.at(node.outputs[0]).f;
  for (uint64_t r = 0; r < t.rows; ++r)
    for (uint64_t c = 0; c < t.ld; ++c) {
      const double lowest = std::max(static_cast<double>(a.floor), floors[r]);
      const double value = std::log(std::max(x[r * t.ld + c], lowest)) * static_cast<double>(a.scale);
      y[r * t.ld + c] = c < t.cols ? value + static_cast<double>(a.offset) : 0.0;
    }
}

OpCase make_case(uint64_t rows, uint64_t cols, const LogFloorAttributes& a) {
  OpCase c;
  c.name = format("%ux%u above %g", rows, cols, static_cast<double>(a.floor));
  c.tolerance = 3e-6;
  CaseRandom random(rows * 1000 + cols);
  const auto x = c.graph.activation("x", rows, cols);
  const auto floors = c.graph.activation("floors", 1, rows);
  ops::log_floor(c.graph, c.name, x, floors, a);
  auto values = random_values(c.graph.tensor(x), random);
  // Spans many magnitudes and includes zeros.
  for (auto& v : values.f) v = v < -0.9 ? 0 : static_cast<double>(static_cast<float>(v * v * std::exp(20 * v)));
  auto lowest = random_values(c.graph.tensor(floors), random, 1e-4);
  c.inputs.emplace_back(x, std::move(values));
  c.inputs.emplace_back(floors, std::move(lowest));
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const uint64_t cols : {1, 24, 80, 131, 2051})
    for (const uint64_t rows : {1, 13}) all.push_back(make_case(rows, cols, {1e-10f, 0.25f / 2.3025851f, 1.0f}));
  all.push_back(make_case(5, 24, {1.1920929e-7f, 1.0f, 0.0f}));
  return all;
}

constexpr OpDef op{"log_floor", infer, only_variant<Tuned::elementwise, "vectors">, lower, reference, cases};

}  // namespace
}  // namespace log_floor_impl

constinit const OpDef log_floor_op = log_floor_impl::op;

graph::TensorId ops::log_floor(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId floors,
                               const LogFloorAttributes& attributes) {
  const auto y = g.activation(label, g.tensor(x).rows, g.tensor(x).cols);
  g.add_node({&log_floor_op, label, {x, floors}, {y}, graph::Attributes(attributes)});
  return y;
}

}  // namespace lapilli
