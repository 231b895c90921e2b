// "group_norm": see basic.hpp.
#include <algorithm>
#include <cmath>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/spans.hpp"
#include "ops/core/tuning.hpp"
#include "ops/rows/basic.hpp"

namespace lapilli {
namespace group_norm_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, first_row, rows, cols, ld4, x_begin, y_begin; float epsilon;)
};

// inputs: x, spans, weight
enum Input : size_t { kX, kSpans, kWeight };
// outputs: y, moments
enum Output : size_t { kY, kMoments };
enum Stage : uint32_t { kRows, kSentences, kApply };

constexpr uint64_t kLevelBytes = uint64_t{state::SPAN_WORDS} * 4;

uint64_t moment_words(uint64_t rows, uint64_t sentences) { return 2 * (rows + sentences); }

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<GroupNormAttributes>();
  LAPILLI_CHECK(expect_input(g, node, kX, {"x"}));
  const auto& x = g.tensor(node.inputs[kX]);
  LAPILLI_CHECK(expect_output(g, node, kY, {"y", x.rows, x.cols}));
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kWeight), "weight", 2 * round_up<uint64_t>(x.cols, 4)));
  LAPILLI_CHECK(
      expect_words(g, node, operand(node.inputs, kSpans), "spans", (uint64_t{a.level} + 1) * state::SPAN_WORDS));
  LAPILLI_CHECK(expect_words(g, node, operand(node.outputs, kMoments), "moments", moment_words(x.rows, a.sentences)));
  if (a.sentences == 0 || a.sentences > state::MAX_ROWS)
    return node_error(node, "%u sentences; 1 to %u", a.sentences, state::MAX_ROWS);
  if (!(a.epsilon > 0)) return node_error(node, "epsilon is not above 0");
  if (x.ld % 4 != 0 || g.tensor(node.outputs[kY]).ld != x.ld) return node_error(node, "rows are not whole vectors");
  return {};
}

// llvmpipe counts the iterations of both loops over a sentence together (docs/inside/adding-an-op.md).
constexpr uint64_t kMostTurns = 50000;

// One stage for these rows of x and y; operands that the stage does not touch are bound all the same.
Result<Dispatch> lower_stage(const LowerContext& context, const graph::Node& node, Variant v, Stage stage,
                             const RowSlice& rows) {
  const auto a = node.attributes.as<GroupNormAttributes>();
  const auto& t = context.graph.tensor(node.inputs[kX]);
  const uint64_t row = t.ld * 4;
  Dispatch d;
  d.shader = ShaderId::group_norm;
  d.constants = {v.numbers.local, stage};
  d.groups = stage == kSentences ? a.sentences : rows.end - rows.begin;
  uint32_t dx = 0, dy = 0;
  Operand x = bind_range(context, 0, {node.inputs[kX], rows.begin * row, rows.end * row, graph::Access::read}, dx);
  Operand y = bind_range(context, 2, {node.outputs[kY], rows.begin * row, rows.end * row, graph::Access::write}, dy);
  LAPILLI_TRY(auto w, bind_whole(context, 1, node.inputs[kWeight], graph::Access::read));
  LAPILLI_TRY(const auto moments, bind_whole(context, 3, node.outputs[kMoments], graph::Access::read_write));
  x.used = stage != kSentences;
  y.used = w.used = stage == kApply;
  d.operands = {x,
                w,
                y,
                moments,
                {4, node.inputs[kSpans], a.level * kLevelBytes, (a.level + 1) * kLevelBytes, graph::Access::read}};
  d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(rows.begin), static_cast<uint32_t>(t.rows),
                  static_cast<uint32_t>(t.cols), static_cast<uint32_t>(t.ld / 4), dx / 4, dy / 4, a.epsilon});
  d.cost = stage == kSentences ? 8.0 * static_cast<double>(t.rows) : 6.0 * static_cast<double>(d.groups * t.ld);
  return d;
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, kHalving));
  const auto& t = context.graph.tensor(node.inputs[kX]);
  if (2 * div_up<uint64_t>(t.rows, v.numbers.local) > kMostTurns)
    return node_error(node, "%u invocations are too few for %u rows", v.numbers.local, t.rows);
  LAPILLI_TRY(const auto slices, row_slices(context, node, t.rows, {t.ld * 4, 1}));
  const auto add = [&](Stage stage, const RowSlice& rows) -> Status {
    LAPILLI_TRY(out.emplace_back(), lower_stage(context, node, v, stage, rows));
    return {};
  };
  for (const auto& s : slices) LAPILLI_CHECK(add(kRows, s));
  LAPILLI_CHECK(add(kSentences, slices.front()));
  for (const auto& s : slices) LAPILLI_CHECK(add(kApply, s));
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<GroupNormAttributes>();
  const auto& t = g.tensor(node.inputs[kX]);
  const auto &x = values.at(node.inputs[kX]).f, &w = values.at(node.inputs[kWeight]).f;
  auto& y = values.at(node.outputs[kY]).f;
  std::fill(y.begin(), y.end(), 0.0);
  const auto words =
      std::span(values.at(node.inputs[kSpans]).u).subspan(a.level * state::SPAN_WORDS, state::SPAN_WORDS);
  for (const Span& s : spans_of(words)) {
    const double n = static_cast<double>(s.ids) * static_cast<double>(t.cols);
    double mean = 0, variance = 0;
    const auto each = [&](const auto& act) {
      for (uint64_t r = s.row; r < uint64_t{s.row} + s.ids; ++r)
        for (uint64_t c = 0; c < t.cols; ++c) act(r * t.ld + c, c);
    };
    each([&](uint64_t i, uint64_t) { mean += x[i] / n; });
    each([&](uint64_t i, uint64_t) { variance += (x[i] - mean) * (x[i] - mean) / n; });
    const double scale = 1 / std::sqrt(variance + static_cast<double>(a.epsilon));
    each([&](uint64_t i, uint64_t c) { y[i] = (x[i] - mean) * scale * w[c] + w[t.ld + c]; });
  }
}

struct CaseShape {
  uint32_t cols = 0;
  std::vector<uint32_t> lengths;
  uint32_t apart = 0;  // distance in rows between sentence starts; 0: contiguous
  double offset = 0;   // added to all values
};

HostTensor norm_values(uint64_t ld, uint32_t cols, CaseRandom& random) {
  HostTensor weight;
  weight.f.assign(2 * ld, 0.0);
  for (uint32_t i = 0; i < cols; ++i) {
    weight.f[i] = 1 + 0.5 * random.unit();
    weight.f[ld + i] = random.unit();
  }
  return weight;
}

OpCase make_case(const std::string& name, const CaseShape& s) {
  OpCase c;
  c.name = format("%s, %u columns", name, s.cols);
  std::vector<Span> spans;
  for (uint32_t i = 0; i < s.lengths.size(); ++i) spans.push_back({s.apart * i, 0, s.lengths[i], s.lengths[i]});
  if (s.apart == 0) spans = packed_spans(spans);
  const uint64_t rows = 3 + (s.apart ? s.apart * s.lengths.size() : span_totals(spans).rows);
  const auto x = c.graph.activation("x", rows, s.cols);
  const auto words = add_state(c.graph, "spans", StateKind::feature_spans, 2 * state::SPAN_WORDS, graph::DType::u32);
  const auto weight = add_weight(c.graph, "weight", 2 * round_up<uint64_t>(s.cols, 4));
  ops::group_norm(c.graph, c.name, {x, words, weight},
                  {1e-5f, 1, static_cast<uint32_t>(std::min<size_t>(state::MAX_ROWS, s.lengths.size() + 2))});
  c.prepare = [=](OpCase& into) {
    const auto& t = into.graph.tensor(x);
    CaseRandom random(s.cols * 31 + rows);
    auto values = random_values(t, random, 3);
    for (uint64_t i = 0; i < t.elements(); ++i)
      if (i % t.ld < t.cols) values.f[i] += s.offset;
    into.inputs.emplace_back(x, std::move(values));
    into.inputs.emplace_back(weight, norm_values(t.ld, s.cols, random));
    std::vector<uint32_t> both(state::SPAN_WORDS, 1);  // level 0 is unrelated
    const auto of_level = span_words(spans);
    both.insert(both.end(), of_level.begin(), of_level.end());
    into.inputs.emplace_back(words, words_of(std::move(both)));
  };
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case("one row", {36, {1}}));
  all.push_back(make_case("sentences of one row and more", {8, {7, 1, 130, 2}}));
  all.push_back(make_case("sentences apart", {5, {9, 4, 1}, 11}));
  all.push_back(make_case("far from zero", {33, {40, 3}, 0, 20}));
  all.push_back(make_case("one column", {1, {50}}));
  all.push_back(make_case("as many sentences as there can be", {3, std::vector<uint32_t>(state::MAX_ROWS, 2)}));
  // Sliced on devices with small bindings, and more rows than groups of small grids.
  all.push_back(make_case("more rows than a binding holds", {288, {70, 20}}));
  all.push_back(make_case("rows by the thousand", {4, {4200, 300}}));
  return all;
}

constexpr OpDef op{"group_norm", infer,     only_variant<Tuned::row_sums, "workgroup a row, then a sentence">,
                   lower,        reference, cases};

}  // namespace
}  // namespace group_norm_impl

constinit const OpDef group_norm_op = group_norm_impl::op;

graph::TensorId ops::group_norm(graph::Graph& g, const std::string& label, const GroupNormOperands& o,
                                const GroupNormAttributes& attributes) {
  const uint64_t rows = g.tensor(o.x).rows, cols = g.tensor(o.x).cols;
  const auto y = g.activation(label, rows, cols);
  const auto moments = g.activation(label + ".moments", 1, group_norm_impl::moment_words(rows, attributes.sentences));
  g.tensor(moments).scratch = true;
  g.add_node({&group_norm_op, label, {o.x, o.spans, o.weight}, {y, moments}, graph::Attributes(attributes)});
  return y;
}

}  // namespace lapilli
