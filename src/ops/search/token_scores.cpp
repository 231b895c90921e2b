// "token_scores": see token_scores.hpp.
#include "ops/search/token_scores.hpp"

#include <algorithm>
#include <cmath>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"

namespace lapilli {
namespace token_scores_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, columns, ld4, x_begin4, scores_begin4, first_id, id_count;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(expect_input(g, node, 0, {"logits"}));
  LAPILLI_CHECK(expect_input(g, node, 1, {"ids", 0, 0, graph::DType::u32}));
  const auto& x = g.tensor(node.inputs[0]);
  if (x.ld % 4 != 0) return node_error(node, "rows are not whole vectors");
  return expect_output(g, node, 0, {"scores", x.rows, 1});
}

uint64_t words_of_ids(const graph::Graph& g, const graph::Node& node) { return g.tensor(node.inputs[1]).elements(); }

Status lower_rows(const LowerContext& context, const graph::Node& node, const Numbers& numbers, const RowSlice& r,
                  std::vector<Dispatch>& out) {
  const auto &x = context.graph.tensor(node.inputs[0]), &scores = context.graph.tensor(node.outputs[0]);
  Dispatch d;
  d.shader = ShaderId::token_scores;
  d.constants = {numbers.local};
  d.groups = r.end - r.begin;
  uint32_t dx = 0, ds = 0;
  d.operands.push_back(
      bind_range(context, 0, {node.inputs[0], r.begin * x.ld * 4, r.end * x.ld * 4, graph::Access::read}, dx));
  LAPILLI_TRY(const auto ids, bind_whole(context, 1, node.inputs[1], graph::Access::read));
  d.operands.push_back(ids);
  d.operands.push_back(bind_range(
      context, 2, {node.outputs[0], r.begin * scores.ld * 4, r.end * scores.ld * 4, graph::Access::write}, ds));
  const auto first = node.attributes.as<TokenScoresAttributes>().first + 1 + r.begin;
  d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(x.cols), static_cast<uint32_t>(x.ld / 4),
                  dx / 4, ds / 4, static_cast<uint32_t>(first),
                  static_cast<uint32_t>(words_of_ids(context.graph, node))});
  d.cost = 6.0 * static_cast<double>(d.groups * x.ld);
  out.push_back(std::move(d));
  return {};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, kHalving));
  const auto& x = context.graph.tensor(node.inputs[0]);
  LAPILLI_TRY(const auto slices, row_slices(context, node, x.rows, {std::max<uint64_t>(x.ld, 4) * 4, 1}));
  for (const RowSlice& slice : slices) LAPILLI_CHECK(lower_rows(context, node, v.numbers, slice, out));
  return {};
}

double log_sum(const double* row, uint64_t columns) {
  const double most = *std::max_element(row, row + columns);
  double sum = 0;
  for (uint64_t c = 0; c < columns; ++c) sum += std::exp(row[c] - most);
  return most + std::log(sum);
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto &x = g.tensor(node.inputs[0]), &t = g.tensor(node.outputs[0]);
  const auto& logits = values.at(node.inputs[0]).f;
  const auto& ids = values.at(node.inputs[1]).u;
  auto& scores = values.at(node.outputs[0]).f;
  std::fill(scores.begin(), scores.end(), 0.0);
  for (uint64_t r = 0; r < x.rows; ++r) {
    const uint64_t at = node.attributes.as<TokenScoresAttributes>().first + r + 1;
    const double* row = logits.data() + r * x.ld;
    if (at < ids.size() && ids[at] < x.cols) scores[r * t.ld] = row[ids[at]] - log_sum(row, x.cols);
  }
}

OpCase make_case(const std::string& name, uint64_t rows, uint64_t columns, uint64_t id_count, uint32_t first) {
  OpCase c;
  c.name = format("%s, %u of %u columns", name, rows, columns);
  CaseRandom random(rows * 17 + columns);
  const auto x = c.graph.activation("logits", rows, columns);
  const auto ids = add_state(c.graph, "ids", StateKind::target_ids, id_count, graph::DType::u32);
  ops::token_scores(c.graph, c.name, x, ids, first);
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random, 12));
  std::vector<uint32_t> words(id_count);
  for (uint32_t& word : words) word = random.below(static_cast<uint32_t>(columns) + (columns > 2 ? 1 : 0));
  c.inputs.emplace_back(ids, words_of(std::move(words)));
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const uint64_t columns : {1, 2, 17, 127, 1031, 4097}) all.push_back(make_case("rows", 5, columns, 9, 0));
  all.push_back(make_case("the last rows", 4, 258, 9, 5));  // the last one has no id behind it
  all.push_back(make_case("large vocabulary", 2, 65001, 3, 0));
  all.push_back(make_case("sliced", 40, 8193, 41, 0));
  {
    auto c = make_case("large logits, and one far ahead", 3, 1500, 4, 0);
    auto& v = c.inputs[0].second.f;
    const uint64_t ld = c.graph.tensor(0).ld;
    for (uint64_t i = 0; i < 1500; ++i) v[i] = static_cast<float>(v[i] + 30000);
    for (uint64_t i = 0; i < 1500; ++i) v[ld + i] = static_cast<float>(v[ld + i] - 30000);
    v[2 * ld + 1499] = 900;
    all.push_back(std::move(c));
  }
  return all;
}

constexpr OpDef op{"token_scores", infer, only_variant<Tuned::log_softmax, "workgroup a row">, lower, reference, cases};

}  // namespace
}  // namespace token_scores_impl

constinit const OpDef token_scores_op = token_scores_impl::op;

graph::TensorId ops::token_scores(graph::Graph& g, const std::string& label, graph::TensorId logits,
                                  graph::TensorId ids, uint32_t first) {
  const auto scores = g.activation(label, g.tensor(logits).rows, 1);
  g.add_node({&token_scores_op, label, {logits, ids}, {scores}, graph::Attributes(TokenScoresAttributes{first})});
  return scores;
}

}  // namespace lapilli
