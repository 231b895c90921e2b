// "shaw_attention": see shaw_attention.hpp.
#include "ops/attention/shaw_attention.hpp"

#include <algorithm>
#include <cmath>

#include "ops/attention/attention_cases.hpp"
#include "ops/attention/attention_util.hpp"
#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/spans.hpp"

namespace lapilli {
namespace shaw_attention_impl {
namespace {

using ull = unsigned long long;
enum : size_t { kQ, kKv, kVectors, kBounds, kLineage };
// More would need more iterations than llvmpipe counts (docs/inside/adding-an-op.md).
constexpr uint32_t kMostKeys = 8192;

struct StepPush {
  LAPILLI_PUSH_BEHIND(AttentionPush, common, uint32_t reach, causal; uint32_t lineage_beam_slots, lineage_positions;)
};
struct SequencePush {
  LAPILLI_PUSH_BEHIND(AttentionPush, common, uint32_t reach, causal; uint32_t queries, query_begin, query_count;)
};

bool is_step(const ShawAttentionAttributes& a) { return a.rows == ShawRows::step; }
bool is_pass(const ShawAttentionAttributes& a) { return a.rows == ShawRows::pass; }

Status infer_bounds(const graph::Graph& g, const graph::Node& node, const ShawAttentionAttributes& a) {
  const auto& q = g.tensor(node.inputs[kQ]);
  const auto bounds = operand(node.inputs, kBounds);
  if (is_step(a)) {
    if (q.rows > state::MAX_ROWS) return node_error(node, "a step has at most %u rows", state::MAX_ROWS);
    if (a.lineage_beam_slots < a.kv.slots)
      return node_error(node, "lineage has %u beam slots, the cache %u", a.lineage_beam_slots, a.kv.slots);
    LAPILLI_CHECK(expect_words(g, node, bounds, "step", state::STEP_QUEUE));
    return expect_words(g, node, operand(node.inputs, kLineage), "lineage",
                        state::lineage_words(a.lineage_beam_slots, a.lineage_positions));
  }
  const uint64_t sentences = is_pass(a) ? 1 : a.batch;
  if (a.batch == 0 || a.queries == 0 || sentences > a.kv.slots || a.queries > a.kv.positions ||
      a.batch > state::MAX_ROWS || q.rows != sentences * a.queries)
    return node_error(node, "%u rows are not %u sentences of %u positions in %u slots of %u", ull{q.rows}, a.batch,
                      a.queries, a.kv.slots, a.kv.positions);
  if (is_pass(a)) return expect_words(g, node, bounds, "spans", state::SPAN_WORDS);
  return expect_words(g, node, bounds, "lengths", 2 * uint64_t{a.batch});
}

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<ShawAttentionAttributes>();
  const KvShape& kv = a.kv;
  LAPILLI_CHECK(infer_heads(g, node, kv, {}, is_step(a) ? KvReader::step : KvReader::sequence));
  if (kv.group != 1) return node_error(node, "%u heads of queries for each of the keys", kv.group);
  if ((2 * uint64_t{a.reach} + 1) * kv.head_dim > kBiasWords)
    return node_error(node, "vectors of %u numbers for distances up to %u; at most %u numbers are supported",
                      kv.head_dim, a.reach, kBiasWords);
  if (!is_pass(a) && kv.positions > kMostKeys)
    return node_error(node, "%u positions; at most %u are supported", kv.positions, kMostKeys);
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kVectors), "vectors", kBiasWords));
  return infer_bounds(g, node, a);
}

std::vector<Variant> variants(const Capabilities& caps, const graph::Graph&, const graph::Node& node) {
  return {{0, "workgroup a row and head", true,
           attention_numbers(caps, Tuned::attention, node.attributes.as<ShawAttentionAttributes>().kv, false)}};
}

class Lowering {
 public:
  Lowering(const LowerContext& context, const graph::Node& node, const Numbers& numbers, std::vector<Dispatch>& out)
      : context_(context),
        node_(node),
        numbers_(numbers),
        out_(out),
        a_(node.attributes.as<ShawAttentionAttributes>()) {}

  Status run() {
    LAPILLI_CHECK(check_attention(context_, node_, numbers_, a_.kv, false));
    LAPILLI_TRY(auto block, kv_block(context_, node_, node_.inputs[kKv], a_.kv,
                                     is_step(a_)   ? a_.beams
                                     : is_pass(a_) ? 0
                                                   : 1));
    const uint64_t slots = is_step(a_) ? a_.kv.slots : is_pass(a_) ? 1 : a_.batch;
    uint64_t queries = is_step(a_) ? 1 : a_.queries;
    if (!is_step(a_)) LAPILLI_CHECK(fit_rows(block, queries, slots));
    for (uint64_t h = 0; h < a_.kv.heads; h += block.heads)
      for (uint64_t s = 0; s < slots; s += block.slots) {
        const KvPart part{h, std::min<uint64_t>(a_.kv.heads, h + block.heads), s, std::min(slots, s + block.slots)};
        if (is_step(a_)) {
          LAPILLI_CHECK(emit_step(part));
          continue;
        }
        for (uint64_t i = 0; i < a_.queries; i += queries)
          LAPILLI_CHECK(emit_sequence(part, i, std::min<uint64_t>(queries, a_.queries - i)));
      }
    return {};
  }

 private:
  [[nodiscard]] const graph::Tensor& q() const { return context_.graph.tensor(node_.inputs[kQ]); }
  [[nodiscard]] const graph::Tensor& context() const { return context_.graph.tensor(node_.outputs[0]); }
  [[nodiscard]] double cost(uint64_t rows_of_heads) const {
    return 6.0 * static_cast<double>(rows_of_heads) * a_.kv.positions * a_.kv.head_dim;
  }

  // Takes fewer sentences, then queries, until rows, grid and work fit.
  Status fit_rows(KvBlock& block, uint64_t& queries, uint64_t slots) const {
    const uint64_t limit = context_.caps.max_storage_range;
    const uint64_t row_bytes = std::max(q().ld, context().ld) * 4;
    block.slots = std::min<uint64_t>(block.slots, slots);
    const auto fits = [&] {
      const bool whole = block.slots == slots && queries == a_.queries;
      const uint64_t room = whole ? limit : limit - std::min(limit, context_.caps.storage_alignment);
      return ((block.slots - 1) * a_.queries + queries) * row_bytes <= room &&
             block.slots * queries * block.heads <= max_groups(context_.caps) &&
             (context_.work.allows(cost(block.slots * queries * block.heads)) || block.slots * queries == 1);
    };
    while (!fits()) {
      if (block.slots > 1)
        block.slots = div_up<uint64_t>(block.slots, 2);
      else if (queries > 1)
        queries = div_up<uint64_t>(queries, 2);
      else
        return node_error(node_, "one row of %u bytes exceeds this device's limits", ull{row_bytes});
    }
    return {};
  }

  // Sets the cache, the vectors, and the words that all forms share.
  Status prepare(const KvPart& part, Dispatch& d, AttentionPush& p) const {
    d.constants = {numbers_.local, a_.kv.head_dim};
    if (is_step(a_)) d.constants.push_back(kv_format(context_, node_));
    d.operands.push_back(bind_kv(context_, {node_.inputs[kKv]}, a_.kv, part, p));
    LAPILLI_TRY(const auto vectors, bind_whole(context_, 7, node_.inputs[kVectors], graph::Access::read));
    d.operands.push_back(vectors);
    LAPILLI_TRY(const auto bounds, bind_whole(context_, a_.rows == ShawRows::sequences ? 6 : 4, node_.inputs[kBounds],
                                              graph::Access::read));
    d.operands.push_back(bounds);
    p.groups = static_cast<uint32_t>(d.groups);
    p.ld = static_cast<uint32_t>(q().ld);
    p.out_ld = static_cast<uint32_t>(context().ld);
    p.scale = a_.scale;
    return {};
  }

  Status emit_step(const KvPart& part) {
    Dispatch d;
    d.shader = ShaderId::shaw_attention_step;
    d.groups = q().rows * (part.h1 - part.h0);
    if (d.groups > max_groups(context_.caps))
      return node_error(node_, "%u workgroups exceed this device's grid", ull{d.groups});
    StepPush p{};
    LAPILLI_CHECK(prepare(part, d, p.common));
    for (const auto& [binding, tensor, access] : {std::tuple{0u, node_.inputs[kQ], graph::Access::read},
                                                  std::tuple{2u, node_.inputs[kLineage], graph::Access::read},
                                                  std::tuple{3u, node_.outputs[0], graph::Access::write}}) {
      LAPILLI_TRY(const auto whole, bind_whole(context_, binding, tensor, access));
      d.operands.push_back(whole);
    }
    follow_live_rows(d, p.common.heads, 1);
    p.reach = a_.reach;
    p.lineage_beam_slots = a_.lineage_beam_slots;
    p.lineage_positions = a_.lineage_positions;
    d.set_push(p);
    d.cost = cost(d.groups);
    out_.push_back(std::move(d));
    return {};
  }

  Status emit_sequence(const KvPart& part, uint64_t query_begin, uint64_t query_count) {
    Dispatch d;
    d.shader = is_pass(a_) ? ShaderId::shaw_attention_spans : ShaderId::shaw_attention;
    d.groups = (part.s1 - part.s0) * (part.h1 - part.h0) * query_count;
    SequencePush p{};
    LAPILLI_CHECK(prepare(part, d, p.common));
    const uint64_t first = part.s0 * a_.queries + query_begin,
                   rows = (part.s1 - part.s0 - 1) * a_.queries + query_count;
    uint32_t delta = 0;
    d.operands.push_back(bind_range(
        context_, 0, {node_.inputs[kQ], first * q().ld * 4, (first + rows) * q().ld * 4, graph::Access::read}, delta));
    p.common.q_begin = static_cast<uint32_t>(delta - first * q().ld);
    d.operands.push_back(bind_range(
        context_, 3,
        {node_.outputs[0], first * context().ld * 4, (first + rows) * context().ld * 4, graph::Access::write}, delta));
    p.common.out_begin = static_cast<uint32_t>(delta - first * context().ld);
    p.reach = a_.reach;
    p.causal = a_.causal;
    p.queries = a_.queries;
    p.query_begin = static_cast<uint32_t>(query_begin);
    p.query_count = static_cast<uint32_t>(query_count);
    d.set_push(p);
    d.cost = cost(d.groups);
    out_.push_back(std::move(d));
    return {};
  }

  const LowerContext& context_;
  const graph::Node& node_;
  const Numbers numbers_;
  std::vector<Dispatch>& out_;
  const ShawAttentionAttributes a_;
};

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  return Lowering(context, node, v.numbers, out).run();
}

// A row with its query's position and the keys that it sees.
struct HostRow {
  uint64_t row, slot, query, begin, end;
  uint32_t word = 0;  // of a step
};

std::vector<HostRow> rows_of_pass(const ShawAttentionAttributes& a, const std::vector<uint32_t>& words) {
  std::vector<HostRow> rows;
  for (const Span& s : spans_of(words))
    for (uint64_t r = s.row; r < s.row + uint64_t{s.ids}; ++r)
      rows.push_back({r, 0, r, s.row, a.causal ? r + 1 : s.row + uint64_t{s.ids}});
  return rows;
}

std::vector<HostRow> host_rows(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<ShawAttentionAttributes>();
  const auto& words = values.at(node.inputs[kBounds]).u;
  if (is_pass(a)) return rows_of_pass(a, words);
  std::vector<HostRow> rows;
  const uint64_t count = g.tensor(node.inputs[kQ]).rows;
  for (uint64_t r = 0; r < (is_step(a) ? std::min<uint64_t>(count, words[state::STEP_LIVE]) : count); ++r) {
    if (is_step(a)) {
      const uint32_t word = words[state::STEP_ROWS + r];
      rows.push_back({r, state::beam_slot_of(word), state::position_of(word), 0, state::position_of(word) + 1, word});
      continue;
    }
    const uint64_t slot = r / a.queries, query = r % a.queries, end = std::min(words[2 * slot + 1], a.kv.positions);
    rows.push_back({r, slot, query, words[2 * slot], a.causal ? std::min(end, query + 1) : end});
  }
  return rows;
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<ShawAttentionAttributes>();
  const auto &x = g.tensor(node.inputs[kQ]), &y = g.tensor(node.outputs[0]);
  const HostKv cache(g, node.inputs[kKv], values);
  const auto& vectors = values.at(node.inputs[kVectors]).f;
  auto& out = values.at(node.outputs[0]).f;
  std::fill(out.begin(), out.end(), 0.0);
  const uint32_t dim = a.kv.head_dim;
  for (const HostRow& row : host_rows(g, node, values))
    for (uint64_t h = 0; h < a.kv.heads; ++h) {
      const double* q = values.at(node.inputs[kQ]).f.data() + row.row * x.ld + h * dim;
      double* context = out.data() + row.row * y.ld + h * dim;
      std::vector<double> scores, sums;  // sums: keys or values with their vectors
      for (uint64_t j = row.begin; j < row.end; ++j) {
        uint64_t holder = row.slot;
        if (is_step(a) && j != row.query)
          holder =
              values.at(node.inputs[kLineage])
                  .u[state::lineage_word(state::lineage_parity(state::position_of(row.word)), state::LINEAGE_ANCESTRY,
                                         row.slot, j, a.lineage_beam_slots, a.lineage_positions)];
        const int64_t reach = a.reach;
        const int64_t bucket =
            std::clamp(static_cast<int64_t>(j) - static_cast<int64_t>(row.query), -reach, reach) + reach;
        const std::vector<double> cell = cache.cell(a.kv, h, holder, j);
        double score = 0;
        for (uint32_t d = 0; d < dim; ++d) {
          const double vector = vectors[static_cast<uint64_t>(bucket) * dim + d];
          score += q[d] * (cell[d] + vector);
          sums.push_back(cell[dim + d] + vector);
        }
        scores.push_back(score * static_cast<double>(a.scale));
      }
      if (scores.empty()) continue;
      const double top = *std::max_element(scores.begin(), scores.end());
      double sum = 0;
      for (double& s : scores) sum += s = std::exp(s - top);
      for (size_t i = 0; i < scores.size(); ++i)
        for (uint32_t d = 0; d < dim; ++d) context[d] += scores[i] / sum * sums[i * dim + d];
    }
}

struct CaseShape {
  uint32_t heads, head_dim, reach = 2;
  uint32_t sentences = 1, positions = 1;
  bool causal = false;
  std::vector<uint32_t> pass{};  // ids of each sentence
  // a step; rows 0: whole sequences
  uint32_t rows = 0, live = 0, beams = 1, step = 0;
  KvFormat format = KvFormat::fp32;
};

void step_inputs(OpCase& c, const CaseShape& s, ShawAttentionAttributes& a, ops::ShawTensors& t, CaseRandom& random) {
  a.rows = ShawRows::step;
  a.beams = s.beams;
  a.lineage_beam_slots = a.kv.slots + 1;  // strides larger than the cache's
  a.lineage_positions = s.positions + 3;
  a.kv.layout = RowLayout::step;
  c.live_rows = s.live;
  t.bounds = add_step(c.graph);
  std::vector<uint32_t> row_slots;
  for (uint32_t r = 0; r < s.rows; ++r) row_slots.push_back(a.kv.slots - 1 - r % a.kv.slots);
  c.inputs.emplace_back(t.bounds, step_values(mixed_positions(s.step, s.rows), s.live, row_slots));
  t.lineage = add_state(c.graph, "lineage", StateKind::lineage,
                        state::lineage_words(a.lineage_beam_slots, a.lineage_positions), graph::DType::u32);
  std::vector<uint32_t> words(state::lineage_words(a.lineage_beam_slots, a.lineage_positions), 0xffffffffu);
  for (uint32_t slot = 0; slot < a.kv.slots; ++slot)
    for (uint32_t j = 0; j < s.step; ++j)
      for (const uint32_t parity : {0u, 1u})
        words[state::lineage_word(parity, state::LINEAGE_ANCESTRY, slot, j, a.lineage_beam_slots,
                                  a.lineage_positions)] = slot / s.beams * s.beams + random.below(s.beams);
  c.inputs.emplace_back(t.lineage, words_of(std::move(words)));
}

void sequence_inputs(OpCase& c, const CaseShape& s, ShawAttentionAttributes& a, ops::ShawTensors& t) {
  a.causal = s.causal ? 1 : 0;
  a.batch = s.pass.empty() ? s.sentences : static_cast<uint32_t>(s.pass.size());
  a.queries = s.positions;
  if (!s.pass.empty()) {
    a.rows = ShawRows::pass;
    t.bounds = add_spans(c, s.pass);
    return;
  }
  t.bounds = add_lengths(c.graph);
  std::vector<std::pair<uint32_t, uint32_t>> lengths;
  for (uint32_t i = 0; i < s.sentences; ++i) lengths.emplace_back(0, i == 2 ? 0 : s.positions - i % s.positions);
  c.inputs.emplace_back(t.bounds, length_values(lengths));
}

OpCase make_case(const CaseShape& s) {
  OpCase c;
  c.name =
      format("reach %u heads %ux%u sentences %u positions %u", s.reach, s.heads, s.head_dim, s.sentences, s.positions);
  if (s.causal) c.name += " causal";
  if (!s.pass.empty()) c.name += " pass";
  if (s.rows) c.name += format(" step %u rows %u of %u beams %u", s.step, s.live, s.rows, s.beams);
  c.name += suffix(s.format);
  CaseRandom random(s.heads * 3 + s.head_dim * 5 + s.positions * 7 + s.step);
  ShawAttentionAttributes a;
  a.kv = {s.heads, s.head_dim, s.sentences * s.beams, s.positions};
  a.reach = s.reach;
  a.scale = 0.3f;
  ops::ShawTensors t;
  const uint64_t rows = s.rows ? s.rows : uint64_t{s.sentences} * s.positions;
  t.q = c.graph.activation("q", rows, uint64_t{s.heads} * s.head_dim);
  const KvLayout layout(a.kv, s.format);
  t.kv = add_kv(c.graph, StateKind::self_kv, layout);
  t.vectors = add_weight(c.graph, "vectors", kBiasWords);
  c.inputs.emplace_back(t.q, random_values(c.graph.tensor(t.q), random, 2));
  c.inputs.emplace_back(t.kv, kv_values(layout, random, 2));
  c.inputs.emplace_back(t.vectors, random_values(c.graph.tensor(t.vectors), random, 2));
  if (s.rows)
    step_inputs(c, s, a, t, random);
  else
    sequence_inputs(c, s, a, t);
  ops::shaw_attention(c.graph, "context", t, a);
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case({1, 1, 0}));
  for (const bool causal : {false, true}) {
    all.push_back(make_case({4, 8, 3, 2, 12, causal}));
    all.push_back(make_case({3, 5, 1, 3, 9, causal}));      // one sentence without keys, padded rows
    all.push_back(make_case({2, 64, 16, 1, 140, causal}));  // more than a chunk of keys
    all.push_back(make_case({1, 255, 2, 1, 7, causal}));
    all.push_back(make_case({8, 64, 20, 3, 20, causal}));               // sliced on devices with small bindings
    all.push_back(make_case({3, 12, 2, 1, 23, causal, {5, 1, 9, 6}}));  // rows past the last sentence
    all.push_back(make_case({2, 64, 20, 1, 150, causal, {150}}));
  }
  for (const auto kv : {KvFormat::fp32, KvFormat::fp16}) {
    all.push_back(make_case({2, 8, 3, 1, 5, false, {}, 1, 1, 1, 0, kv}));
    all.push_back(make_case({2, 8, 3, 1, 5, false, {}, 1, 1, 1, 4, kv}));
    all.push_back(make_case({3, 12, 2, 4, 9, false, {}, 8, 5, 2, 6, kv}));
    all.push_back(make_case({4, 16, 20, 4, 9, false, {}, 8, 8, 2, 5, kv}));
    all.push_back(make_case({2, 64, 20, 4, 300, false, {}, 12, 7, 3, 260, kv}));
    all.push_back(make_case({3, 5, 1, 3, 7, false, {}, 3, 3, 1, 3, kv}));
    all.push_back(make_case({2, 8, 2, 4, 6, false, {}, 4, 0, 1, 2, kv}));  // no live rows
  }
  return all;
}

constexpr OpDef op{"shaw_attention", infer, variants, lower, reference, cases};

}  // namespace
}  // namespace shaw_attention_impl

constinit const OpDef shaw_attention_op = shaw_attention_impl::op;

graph::TensorId ops::shaw_attention(graph::Graph& g, const std::string& label, const ShawTensors& t,
                                    const ShawAttentionAttributes& attributes) {
  const auto context = g.rows_like(label, t.q, uint64_t{attributes.kv.heads} * attributes.kv.head_dim);
  g.add_node({&shaw_attention_op,
              label,
              {t.q, t.kv, t.vectors, t.bounds, t.lineage},
              {context},
              graph::Attributes(attributes)});
  return context;
}

}  // namespace lapilli
