// "softmax": see basic.hpp.
#include <algorithm>
#include <cmath>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/rows/basic.hpp"

namespace lapilli {
namespace softmax_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, cols, ld4, x_begin, first_row, rows_per_sentence;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<SoftmaxAttributes>();
  LAPILLI_CHECK(expect_input(g, node, 0, {"x"}));
  const auto& x = g.tensor(node.inputs[0]);
  LAPILLI_CHECK(expect_output(g, node, 0, {"x", x.rows, x.cols}));
  if (g.root(node.outputs[0]) != g.root(node.inputs[0])) return node_error(node, "works in place only");
  if (x.ld % 4 != 0) return node_error(node, "rows are not whole vectors");
  if (operand(node.inputs, 1) == graph::kNone) return {};
  LAPILLI_CHECK(expect_input(g, node, 1, {"lengths", 0, 0, graph::DType::u32}));
  LAPILLI_CHECK(expect_words(g, node, node.inputs[1], "lengths", 2 * state::MAX_ROWS));
  if (a.rows_per_sentence == 0 || div_up<uint64_t>(x.rows, a.rows_per_sentence) > state::MAX_ROWS)
    return node_error(node, "%u rows, %u for each of at most %u sentences", x.rows, a.rows_per_sentence,
                      state::MAX_ROWS);
  return {};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, kHalving));
  const auto a = node.attributes.as<SoftmaxAttributes>();
  const auto x = node.outputs[0], lengths = operand(node.inputs, 1);
  const auto& t = context.graph.tensor(x);
  LAPILLI_TRY(const auto slices, row_slices(context, node, t.rows, {t.ld * 4, 1}));
  for (const auto& s : slices) {
    Dispatch d;
    d.shader = lengths == graph::kNone ? ShaderId::softmax : ShaderId::softmax_ranges;
    d.constants = {v.numbers.local};
    d.groups = s.end - s.begin;
    uint32_t delta = 0;
    d.operands.push_back(
        bind_range(context, 0, {x, s.begin * t.ld * 4, s.end * t.ld * 4, graph::Access::read_write}, delta));
    if (lengths != graph::kNone) {
      LAPILLI_TRY(auto words, bind_whole(context, 6, lengths, graph::Access::read));
      d.operands.push_back(words);
    }
    d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(t.cols), static_cast<uint32_t>(t.ld / 4),
                    delta / 4, static_cast<uint32_t>(s.begin), std::max(1u, a.rows_per_sentence)});
    d.cost = 8.0 * static_cast<double>(d.groups * t.ld);
    out.push_back(std::move(d));
  }
  return {};
}

void softmax_row(double* row, uint64_t begin, uint64_t end, uint64_t ld) {
  const auto counts = [&](uint64_t c) {
    return c >= begin && c < end && row[c] > static_cast<double>(state::FORBIDDEN);
  };
  double maximum = static_cast<double>(state::MASKED), sum = 0;
  for (uint64_t c = 0; c < ld; ++c)
    if (counts(c)) maximum = std::max(maximum, row[c]);
  for (uint64_t c = 0; c < ld; ++c)
    if (counts(c)) sum += std::exp(row[c] - maximum);
  for (uint64_t c = 0; c < ld; ++c) row[c] = counts(c) ? std::exp(row[c] - maximum) / sum : 0.0;
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<SoftmaxAttributes>();
  const auto& t = g.tensor(node.outputs[0]);
  auto& x = values.at(node.outputs[0]).f;
  const auto lengths = operand(node.inputs, 1);
  for (uint64_t r = 0; r < t.rows; ++r) {
    uint64_t begin = 0, end = t.cols;
    if (lengths != graph::kNone) {
      const auto& words = values.at(lengths).u;
      begin = words[2 * (r / a.rows_per_sentence)];
      end = std::min<uint64_t>(words[2 * (r / a.rows_per_sentence) + 1], t.cols);
    }
    softmax_row(x.data() + r * t.ld, begin, end, t.ld);
  }
}

using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;

OpCase make_case(const std::string& what, uint64_t rows, uint64_t cols, uint32_t rows_per_sentence,
                 const Ranges& ranges) {
  OpCase c;
  c.name = format("%s %ux%u", what, rows, cols);
  c.tolerance = 2e-6;
  CaseRandom random(rows * 1000 + cols);
  const auto x = c.graph.activation("scores", rows, cols);
  const auto lengths = ranges.empty() ? graph::kNone : add_lengths(c.graph);
  ops::softmax(c.graph, c.name, x, lengths, rows_per_sentence);
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random, 8));
  if (!ranges.empty()) c.inputs.emplace_back(lengths, length_values(ranges));
  return c;
}

OpCase make_forbidden() {
  auto c = make_case("forbidden values, and a row of nothing else", 4, 101, 1, {});
  auto& x = c.inputs[0].second.f;
  const uint64_t ld = c.graph.tensor(0).ld;
  for (uint64_t i = 0; i < 101; ++i) {
    if (i % 3 == 0) x[i] = static_cast<double>(state::MASKED);
    x[ld + i] = static_cast<double>(state::MASKED);
    if (i != 77) x[2 * ld + i] = static_cast<double>(state::FORBIDDEN) * 2;
    x[3 * ld + i] *= 1e4;
  }
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const uint64_t cols : {1, 2, 7, 31, 64, 257, 1031})
    for (const uint64_t rows : {1, 13}) all.push_back(make_case("all columns", rows, cols, 1, {}));
  all.push_back(make_case("ranges", 12, 37, 4, {{0, 37}, {3, 9}, {36, 37}}));
  all.push_back(make_case("edges of vectors", 9, 24, 1,
                          {{0, 4}, {4, 8}, {3, 5}, {0, 1}, {23, 24}, {20, 24}, {5, 7}, {1, 23}, {7, 8}}));
  all.push_back(make_case("empty ranges", 5, 30, 1, {{0, 0}, {7, 7}, {29, 30}, {12, 3}, {0, 99}}));
  all.push_back(make_case("ranges", 607, 67, 101, {{0, 67}, {3, 9}, {11, 64}, {1, 2}, {0, 0}, {60, 67}, {5, 66}}));
  all.push_back(make_case("all columns", 2, 16001, 1, {}));
  all.push_back(make_forbidden());
  return all;
}

constexpr OpDef op{"softmax",          infer, only_variant<Tuned::row_sums, "workgroup a row">, lower, reference, cases,
                   {output_tuning_key}};

}  // namespace
}  // namespace softmax_impl

constinit const OpDef softmax_op = softmax_impl::op;

graph::TensorId ops::softmax(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId lengths,
                             uint32_t rows_per_sentence) {
  const auto y = g.updated(label, x);
  g.add_node({&softmax_op, label, {x, lengths}, {y}, graph::Attributes(SoftmaxAttributes{rows_per_sentence})});
  return y;
}

}  // namespace lapilli
