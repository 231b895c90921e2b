// "normalize_columns": see sound.hpp.
#include <algorithm>
#include <cmath>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/sound/sound.hpp"

namespace lapilli {
namespace normalize_columns_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, rows, means, deviations; float epsilon;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(expect_input(g, node, 0, {"x"}));
  const auto& x = g.tensor(node.inputs[0]);
  LAPILLI_CHECK(expect_output(g, node, 0, {"y", x.rows, x.cols}));
  LAPILLI_CHECK(expect_input(g, node, 1, {"count", 0, 0, graph::DType::u32}));
  if (x.ld % 4 != 0 || g.tensor(node.outputs[0]).ld != x.ld) return node_error(node, "rows are not whole vectors");
  if (x.rows > kMaxNormalizedRows)
    return node_error(node, "%u rows; at most %u are normalized together", x.rows, kMaxNormalizedRows);
  if (!(node.attributes.as<NormalizeColumnsAttributes>().epsilon > 0))
    return node_error(node, "epsilon is not above 0");
  return {};
}

// llvmpipe counts the iterations of all three loops together (docs/inside/adding-an-op.md).
constexpr uint64_t kMostTurns = 50000;

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, kHalving));
  const auto a = node.attributes.as<NormalizeColumnsAttributes>();
  const auto& t = context.graph.tensor(node.inputs[0]);
  if (3 * div_up<uint64_t>(t.rows, v.numbers.local) > kMostTurns)
    return node_error(node, "%u invocations are too few for %u rows", v.numbers.local, t.rows);
  Dispatch d;
  d.shader = ShaderId::normalize_columns;
  d.constants = {v.numbers.local};
  d.groups = t.ld / 4;
  LAPILLI_TRY(const auto x, bind_whole(context, 0, node.inputs[0], graph::Access::read));
  LAPILLI_TRY(const auto count, bind_first(context, 1, node.inputs[1], 4, graph::Access::read));
  LAPILLI_TRY(const auto y, bind_whole(context, 2, node.outputs[0], graph::Access::write));
  d.operands = {x, count, y};
  d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(t.rows), a.means, a.deviations, a.epsilon});
  d.cost = 8.0 * static_cast<double>(t.rows * t.ld);
  out.push_back(std::move(d));
  return {};
}

void normalize_column(const NormalizeColumnsAttributes& a, double* column, uint64_t n, uint64_t ld) {
  if (n == 0) return;
  double mean = 0, square = 0;
  for (uint64_t r = 0; r < n; ++r) mean += column[r * ld] / static_cast<double>(n);
  for (uint64_t r = 0; r < n; ++r) square += std::pow(column[r * ld] - mean, 2) / static_cast<double>(n);
  const double scale = a.deviations ? 1 / std::sqrt(square + static_cast<double>(a.epsilon)) : 1;
  for (uint64_t r = 0; r < n; ++r) column[r * ld] = (column[r * ld] - (a.means ? mean : 0)) * scale;
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<NormalizeColumnsAttributes>();
  const auto& t = g.tensor(node.inputs[0]);
  const uint64_t n = std::min<uint64_t>(values.at(node.inputs[1]).u[0], t.rows);
  auto& y = values.at(node.outputs[0]).f;
  y = values.at(node.inputs[0]).f;
  for (uint64_t c = 0; c < t.cols; ++c) normalize_column(a, y.data() + c, n, t.ld);
  for (uint64_t i = 0; i < y.size(); ++i)
    if (i / t.ld >= n || i % t.ld >= t.cols) y[i] = 0;
}

struct Shape {
  uint64_t rows, cols;
  uint32_t count;
};

OpCase make_case(const Shape& s, const NormalizeColumnsAttributes& a = {}) {
  OpCase c;
  c.name = format("%u of %ux%u%s%s", s.count, s.rows, s.cols, a.means ? "" : ", means stay",
                  a.deviations ? "" : ", deviations stay");
  CaseRandom random(s.rows * 1000 + s.cols);
  const auto x = c.graph.activation("x", s.rows, s.cols);
  const auto count = c.graph.activation("count", 1, 1, graph::DType::u32);
  ops::normalize_columns(c.graph, c.name, x, count, a);
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random, 3));
  c.inputs.emplace_back(count, words_of({s.count, 0, 0, 0}));
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const uint64_t cols : {1, 24, 131})
    for (const uint32_t rows : {3, 67, 130}) all.push_back(make_case({rows, cols, rows - rows / 3}));
  all.push_back(make_case({9, 7, 0}));
  all.push_back(make_case({9, 7, 1000}));
  all.push_back(make_case({33, 8, 20}, {0, 1}));
  all.push_back(make_case({33, 8, 20}, {1, 0}));
  all.push_back(make_case({33, 8, 20}, {0, 0}));
  all.push_back(make_case({4099, 24, 4000}));
  {  // a constant column has a deviation of zero
    auto c = make_case({16, 5, 13});
    c.name = "constant column";
    for (uint64_t r = 0; r < 16; ++r) c.inputs[0].second.f[8 * r + 2] = 0.75;
    all.push_back(std::move(c));
  }
  return all;
}

constexpr OpDef op{"normalize_columns", infer, only_variant<Tuned::row_sums, "workgroup four columns">, lower,
                   reference,           cases};

}  // namespace
}  // namespace normalize_columns_impl

constinit const OpDef normalize_columns_op = normalize_columns_impl::op;

graph::TensorId ops::normalize_columns(graph::Graph& g, const std::string& label, graph::TensorId x,
                                       graph::TensorId count, const NormalizeColumnsAttributes& attributes) {
  const auto y = g.activation(label, g.tensor(x).rows, g.tensor(x).cols);
  g.add_node({&normalize_columns_op, label, {x, count}, {y}, graph::Attributes(attributes)});
  return y;
}

}  // namespace lapilli
