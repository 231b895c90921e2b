// "distance_scores": see distance_scores.hpp.
#include "ops/attention/distance_scores.hpp"

#include <algorithm>
#include <cmath>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"

namespace lapilli {
namespace distance_scores_impl {
namespace {

enum Input : size_t { kQ, kLines, kStep, kSearch };

struct Push {
  LAPILLI_PUSH(uint32_t groups, heads, buckets, line_count, memory, same, prompt, beams, ld, line_ld, y_ld, y_cols,
               column, q_begin, y_begin;
               float scale;)
};

// Rows beside those of the prompt follow another rule, and the search state tells which these are.
bool reads_search(const DistanceScoresAttributes& a) { return !a.same && !a.prompt; }

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<DistanceScoresAttributes>();
  if (a.heads == 0 || a.head_dim == 0 || a.buckets == 0 || a.memory == 0 || a.beams == 0)
    return node_error(node, "no heads, buckets or memory");
  LAPILLI_CHECK(expect_input(g, node, kQ, {"q", 0, uint64_t{a.column()} + a.inner()}));
  LAPILLI_CHECK(expect_input(g, node, kLines, {"lines", 0, a.inner()}));
  const auto& q = g.tensor(node.inputs[kQ]);
  if (q.ld % 4 || g.tensor(node.inputs[kLines]).ld % 4) return node_error(node, "rows are not whole vectors");
  if (q.rows > state::MAX_ROWS) return node_error(node, "a step has at most %u rows", state::MAX_ROWS);
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kStep), "step", state::STEP_QUEUE));
  LAPILLI_CHECK(expect_output(g, node, 0, {"y", q.rows, uint64_t{a.sink_column()} + a.heads}));
  return reads_search(a) ? expect_words(g, node, operand(node.inputs, kSearch), "search", state::search_stride(a.beams))
                         : Status();
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, kHalving));
  const auto a = node.attributes.as<DistanceScoresAttributes>();
  const auto &q = context.graph.tensor(node.inputs[kQ]), &lines = context.graph.tensor(node.inputs[kLines]),
             &y = context.graph.tensor(node.outputs[0]);
  const bool vec = a.head_dim % 4 == 0;
  Dispatch d;
  d.shader = reads_search(a) ? (vec ? ShaderId::distance_scores_vec_prefix : ShaderId::distance_scores_any_prefix)
                             : (vec ? ShaderId::distance_scores_vec : ShaderId::distance_scores_any);
  d.constants = {v.numbers.local, a.head_dim};
  d.groups = q.rows * a.heads;
  follow_live_rows(d, a.heads, 1);
  LAPILLI_TRY(const auto of_q, bind_whole(context, 0, node.inputs[kQ], graph::Access::read));
  LAPILLI_TRY(const auto of_lines, bind_whole(context, 1, node.inputs[kLines], graph::Access::read));
  LAPILLI_TRY(const auto of_y, bind_whole(context, 2, node.outputs[0], graph::Access::write));
  LAPILLI_TRY(const auto step, bind_whole(context, 4, node.inputs[kStep], graph::Access::read));
  d.operands = {of_q, of_lines, of_y, step};
  if (reads_search(a)) {
    LAPILLI_TRY(const auto search, bind_whole(context, 3, node.inputs[kSearch], graph::Access::read));
    d.operands.push_back(search);
  }
  d.set_push(Push{static_cast<uint32_t>(d.groups), a.heads, a.buckets, static_cast<uint32_t>(lines.rows), a.memory,
                  a.same, a.prompt, a.beams, static_cast<uint32_t>(q.ld), static_cast<uint32_t>(lines.ld),
                  static_cast<uint32_t>(y.ld), static_cast<uint32_t>(y.cols), a.column(), 0, 0, a.scale});
  d.cost = 2.0 * static_cast<double>(d.groups) * a.buckets * a.head_dim;
  out.push_back(std::move(d));
  return {};
}

// The positions before the text that a bucket stands for and the row sees; and the greatest distance that it sees.
struct Sight {
  uint64_t position = 0, reach = 0;
  [[nodiscard]] uint64_t ghosts(uint64_t bucket, bool last) const {
    const uint64_t first = std::max(bucket, position + 1), end = last ? reach : std::min(bucket, reach);
    return end >= first ? end - first + 1 : 0;
  }
};

Sight sight_of(const DistanceScoresAttributes& a, uint64_t position, const uint32_t* record) {
  if (a.same) return {position, uint64_t{a.memory} - 1};
  const bool given = a.prompt || position < record[state::P_PREFIX];
  return {position, given ? position + a.memory : a.memory};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<DistanceScoresAttributes>();
  const auto &q = g.tensor(node.inputs[kQ]), &lines = g.tensor(node.inputs[kLines]), &y = g.tensor(node.outputs[0]);
  const auto& words = values.at(node.inputs[kStep]).u;
  const uint64_t live = std::min<uint64_t>(q.rows, words[state::STEP_LIVE]);
  const double masked = static_cast<double>(state::MASKED);
  for (uint64_t r = 0; r < live; ++r) {
    const uint32_t word = words[state::STEP_ROWS + r];
    const uint32_t* record = reads_search(a) ? values.at(node.inputs[kSearch]).u.data() +
                                                   state::search_record(state::beam_slot_of(word) / a.beams, a.beams)
                                             : nullptr;
    const Sight sight = sight_of(a, state::position_of(word), record);
    const double* from = values.at(node.inputs[kQ]).f.data() + r * q.ld;
    double* to = values.at(node.outputs[0]).f.data() + r * y.ld;
    std::fill_n(to, y.ld, 0.0);
    std::copy_n(from, a.inner(), to);
    for (uint64_t h = 0; h < a.heads; ++h) {
      double top = masked, sum = 0;
      for (uint64_t b = 0; b < a.buckets; ++b) {
        const double* line = values.at(node.inputs[kLines]).f.data() + std::min(b, lines.rows - 1) * lines.ld;
        double s = 0;
        for (uint64_t d = 0; d < a.head_dim; ++d) s += from[a.column() + h * a.head_dim + d] * line[h * a.head_dim + d];
        s *= static_cast<double>(a.scale);
        to[a.column() + b * a.heads + h] = !a.same && b > sight.reach ? masked : s;
        const uint64_t ghosts = sight.ghosts(b, b + 1 == a.buckets);
        if (ghosts == 0) continue;
        const double now = std::max(top, s);
        sum = sum * std::exp(top - now) + static_cast<double>(ghosts) * std::exp(s - now);
        top = now;
      }
      to[a.sink_column() + h] = sum > 0 ? top + std::log(sum) : masked;
    }
  }
}

struct CaseShape {
  uint32_t rows, live, heads, head_dim, buckets, lines, memory;
  bool same = true, prompt = false;
};

OpCase make_case(const CaseShape& s) {
  OpCase c;
  DistanceScoresAttributes a{s.heads, s.head_dim, s.buckets, s.memory, s.same, s.prompt, 2, 0.25f};
  c.name = format("%u of %u rows heads %ux%u, %u buckets, %u lines, memory %u%s%s", s.live, s.rows, s.heads, s.head_dim,
                  s.buckets, s.lines, s.memory, s.same ? " for each" : "", s.prompt ? ", prompts" : "");
  CaseRandom random(s.rows * 7 + s.buckets * 3 + s.head_dim);
  ops::DistanceScoresOperands reads;
  reads.q = c.graph.activation("q", s.rows, a.column() + a.inner());
  reads.lines = c.graph.activation("lines", s.lines, a.inner());
  reads.step = add_step(c.graph);
  c.inputs.emplace_back(reads.q, random_values(c.graph.tensor(reads.q), random, 3));
  c.inputs.emplace_back(reads.lines, random_values(c.graph.tensor(reads.lines), random, 2));
  c.inputs.emplace_back(reads.step, step_values(mixed_positions(2 * s.memory, s.rows), s.live));
  c.live_rows = s.live;
  if (reads_search(a)) {
    const uint32_t slots = div_up(s.rows, 2u);
    std::vector<uint32_t> words(uint64_t{slots} * state::search_stride(2), 0);
    for (uint32_t i = 0; i < slots; ++i) words[state::search_record(i, 2) + state::P_PREFIX] = s.memory + i;
    reads.search = add_state(c.graph, "search", StateKind::search, words.size(), graph::DType::u32);
    c.inputs.emplace_back(reads.search, words_of(std::move(words)));
  }
  ops::distance_scores(c.graph, "scores", reads, a);
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case({1, 1, 1, 4, 1, 1, 1}));
  all.push_back(make_case({5, 4, 4, 8, 8, 11, 8}));
  all.push_back(make_case({5, 5, 3, 5, 4, 4, 9}));
  all.push_back(make_case({6, 6, 2, 64, 17, 17, 150}));  // for the self-test
  all.push_back(make_case({7, 5, 2, 12, 30, 30, 6, false}));
  all.push_back(make_case({6, 6, 3, 5, 33, 9, 11, false}));
  all.push_back(make_case({7, 6, 2, 12, 30, 30, 6, false, true}));
  return all;
}

std::string tuning_key(const graph::Graph&, const graph::Node& node) {
  const auto a = node.attributes.as<DistanceScoresAttributes>();
  return format("%u heads of %u, %u buckets", a.heads, a.head_dim, a.buckets);
}

constexpr OpDef op{
    "distance_scores", infer, only_variant<Tuned::row_sums, "workgroup a row and head">, lower, reference, cases,
    {tuning_key}};

}  // namespace
}  // namespace distance_scores_impl

constinit const OpDef distance_scores_op = distance_scores_impl::op;

graph::TensorId ops::distance_scores(graph::Graph& g, const std::string& label, const DistanceScoresOperands& o,
                                     const DistanceScoresAttributes& a) {
  const auto y = g.rows_like(label, o.q, uint64_t{a.sink_column()} + a.heads);
  g.add_node({&distance_scores_op, label, {o.q, o.lines, o.step, o.search}, {y}, graph::Attributes(a)});
  return y;
}

}  // namespace lapilli
