// "pool": see basic.hpp.
#include <algorithm>
#include <cmath>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/spans.hpp"
#include "ops/core/tuning.hpp"
#include "ops/rows/basic.hpp"

namespace lapilli {
namespace pool_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, cols, ld4, blocks, first, rows, row, skipped, y_ld4, y_begin;)
};

enum Input : size_t { kX, kSpans };

// llvmpipe counts iterations (docs/inside/adding-an-op.md), and an invocation may read all rows.
constexpr uint64_t kMostRows = 50000;

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(expect_input(g, node, kX, {"x"}));
  const auto& x = g.tensor(node.inputs[kX]);
  const auto a = node.attributes.as<PoolAttributes>();
  LAPILLI_CHECK(expect_output(g, node, 0, {"y", 0, x.cols * (1 + a.more)}));
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kSpans), "spans", state::SPAN_WORDS));
  const auto& y = g.tensor(node.outputs[0]);
  if (y.rows == 0 || y.rows > state::MAX_ROWS)
    return node_error(node, "%u sentences; 1 to %u", y.rows, state::MAX_ROWS);
  if (a.more > a.beside.size()) return node_error(node, "%u poolings beside the first", a.more);
  const bool side_by_side = x.cols % 4 == 0 && x.ld == x.cols && y.ld == y.cols;
  if (x.ld % 4 != 0 || (a.more ? !side_by_side : y.ld != x.ld)) return node_error(node, "rows are not whole vectors");
  if (x.rows > kMostRows) return node_error(node, "%u rows; at most %u", x.rows, kMostRows);
  return {};
}

// One pooling, into its columns of y.
Status lower_one(const LowerContext& context, const graph::Node& node, Variant v, uint32_t number,
                 std::vector<Dispatch>& out) {
  const auto a = node.attributes.as<PoolAttributes>();
  const auto &x = context.graph.tensor(node.inputs[kX]), &y = context.graph.tensor(node.outputs[0]);
  const uint64_t ld4 = x.ld / 4, blocks = div_up<uint64_t>(ld4, v.numbers.local);
  LAPILLI_TRY(const auto slices, row_slices(context, node, y.rows, {y.ld * 4, blocks}));
  for (const auto& s : slices) {
    Dispatch d;
    d.shader = ShaderId::pool;
    d.constants = {v.numbers.local, static_cast<uint32_t>(number ? a.beside[number - 1] : a.pooling)};
    d.groups = (s.end - s.begin) * blocks;
    uint32_t dy = 0;
    LAPILLI_TRY(const auto from, bind_whole(context, 0, node.inputs[kX], graph::Access::read));
    d.operands = {
        from,
        bind_range(context, 1, {node.outputs[0], s.begin * y.ld * 4, s.end * y.ld * 4, graph::Access::write}, dy),
        {4, node.inputs[kSpans], 0, uint64_t{state::SPAN_WORDS} * 4, graph::Access::read}};
    d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(x.cols), static_cast<uint32_t>(ld4),
                    static_cast<uint32_t>(blocks), static_cast<uint32_t>(s.begin), static_cast<uint32_t>(x.rows),
                    number ? 0 : a.row, a.skipped, static_cast<uint32_t>(y.ld / 4),
                    static_cast<uint32_t>(dy / 4 + number * ld4)});
    d.cost = 2.0 * static_cast<double>(x.elements());
    out.push_back(std::move(d));
  }
  return {};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {4, 1024}));
  for (uint32_t i = 0; i <= node.attributes.as<PoolAttributes>().more; ++i)
    LAPILLI_CHECK(lower_one(context, node, v, i, out));
  return {};
}

// The factors of a sentence's rows in their sum.
std::vector<double> factors(Pooling pooling, uint32_t row, uint32_t n) {
  std::vector<double> of_row(n, 0.0);
  if (pooling == Pooling::row && row < n) of_row[row] = 1;
  if (pooling == Pooling::last && n > 0) of_row[n - 1] = 1;
  for (uint32_t r = 0; r < n; ++r) {
    if (pooling == Pooling::mean) of_row[r] = 1.0 / n;
    if (pooling == Pooling::mean_sqrt) of_row[r] = 1.0 / std::sqrt(double{1} * n);
    if (pooling == Pooling::ramp) of_row[r] = 2.0 * (r + 1) / (double{1} * n * (double{1} + n));
  }
  return of_row;
}

// One column of one sentence, whose rows are `x`.
double pooled(Pooling pooling, uint32_t row, const std::vector<double>& x) {
  if (pooling == Pooling::maximum) return x.empty() ? 0 : *std::max_element(x.begin(), x.end());
  const auto of_row = factors(pooling, row, static_cast<uint32_t>(x.size()));
  double sum = 0;
  for (size_t r = 0; r < x.size(); ++r) sum += of_row[r] * x[r];
  return sum;
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<PoolAttributes>();
  const auto &t = g.tensor(node.inputs[kX]), &out = g.tensor(node.outputs[0]);
  const auto& x = values.at(node.inputs[kX]).f;
  auto& y = values.at(node.outputs[0]).f;
  std::fill(y.begin(), y.end(), 0.0);
  const auto spans = spans_of(std::span(values.at(node.inputs[kSpans]).u).first(state::SPAN_WORDS));
  for (size_t i = 0; i < std::min<size_t>(spans.size(), out.rows); ++i) {
    for (uint64_t c = 0; c < t.cols; ++c) {
      std::vector<double> rows;
      for (uint32_t r = a.skipped; r < spans[i].ids; ++r) rows.push_back(x[(uint64_t{spans[i].row} + r) * t.ld + c]);
      y[i * out.ld + c] = pooled(a.pooling, a.row, rows);
      for (uint32_t m = 0; m < a.more; ++m) y[i * out.ld + (m + 1) * t.cols + c] = pooled(a.beside[m], 0, rows);
    }
  }
}

OpCase make_case(const std::string& name, uint32_t cols, const std::vector<uint32_t>& lengths, PoolAttributes how) {
  OpCase c;
  c.name = format("%s, %u columns", name, cols);
  const auto spans = add_spans(c, lengths);
  uint64_t rows = 2;  // more than the sentences have
  for (const uint32_t n : lengths) rows += n;
  const auto x = c.graph.activation("x", rows, cols);
  const auto sentences = static_cast<uint32_t>(std::min<size_t>(state::MAX_ROWS, lengths.size() + 1));
  ops::pool(c.graph, c.name, {x, spans}, sentences, how);
  c.prepare = [=](OpCase& into) {
    CaseRandom random(cols * 37 + rows);
    into.inputs.emplace_back(x, random_values(into.graph.tensor(x), random, 2));
  };
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  const std::vector<uint32_t> several{7, 1, 130, 2};
  all.push_back(make_case("first row", 36, several, {Pooling::row, 0}));
  all.push_back(make_case("second row, which some lack", 5, several, {Pooling::row, 1}));
  all.push_back(make_case("last row", 8, several, {Pooling::last}));
  all.push_back(make_case("mean", 33, several, {Pooling::mean}));
  all.push_back(make_case("mean by position", 12, several, {Pooling::ramp}));
  all.push_back(make_case("maximum", 7, several, {Pooling::maximum}));
  all.push_back(make_case("sum by the root of rows", 20, several, {Pooling::mean_sqrt}));
  all.push_back(make_case("without a prompt's rows", 24, several, {Pooling::mean, 0, 2}));
  all.push_back(make_case("first row behind a prompt", 24, several, {Pooling::row, 0, 3}));
  all.push_back(
      make_case("three side by side", 44, several, {Pooling::row, 0, 0, 2, {Pooling::maximum, Pooling::mean}}));
  all.push_back(make_case("two side by side behind a prompt", 16, several, {Pooling::mean, 0, 1, 1, {Pooling::last}}));
  all.push_back(make_case("mean of one column and row", 1, {1}, {Pooling::mean}));
  all.push_back(
      make_case("as many sentences as there can be", 3, std::vector<uint32_t>(state::MAX_ROWS, 2), {Pooling::mean}));
  all.push_back(make_case("rows by the thousand", 260, {4200, 300}, {Pooling::mean}));
  return all;
}

constexpr OpDef op{"pool", infer,     only_variant<Tuned::unfold, "invocation a vector of columns">,
                   lower,  reference, cases};

}  // namespace
}  // namespace pool_impl

constinit const OpDef pool_op = pool_impl::op;

graph::TensorId ops::pool(graph::Graph& g, const std::string& label, const SpannedRows& rows, uint32_t sentences,
                          const PoolAttributes& attributes) {
  const auto y = g.activation(label, sentences, g.tensor(rows.x).cols * (1 + attributes.more));
  g.add_node({&pool_op, label, {rows.x, rows.spans}, {y}, graph::Attributes(attributes)});
  return y;
}

}  // namespace lapilli
