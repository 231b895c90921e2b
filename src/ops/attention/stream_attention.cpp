// "stream_attention": see stream_attention.hpp.
#include "ops/attention/stream_attention.hpp"

#include <algorithm>
#include <cmath>

#include "ops/attention/attention_cases.hpp"
#include "ops/attention/attention_util.hpp"
#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"

namespace lapilli {
namespace stream_attention_impl {
namespace {

using ull = unsigned long long;
enum : size_t { kQ, kKv, kLineage, kStep, kLengths, kDistances };

struct StepPush {
  LAPILLI_PUSH_BEHIND(AttentionPush, common, uint32_t own_column, stream;
                      uint32_t lineage_beam_slots, lineage_positions;)
};
struct SequencePush {
  LAPILLI_PUSH_BEHIND(AttentionPush, common, uint32_t own_column, stream; uint32_t queries, query_begin, query_count;)
};

uint64_t width(const KvShape& kv) { return uint64_t{kv.heads} * kv.head_dim; }

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<StreamAttentionAttributes>();
  const KvShape& kv = a.kv;
  LAPILLI_CHECK(infer_heads(g, node, kv, a.bias, a.step ? KvReader::step : KvReader::sequence));
  if (a.bias.form != BiasForm::rows) return node_error(node, "the bias is not in q's rows");
  if (kv.group != 1) return node_error(node, "%u heads of queries for each of the keys", kv.group);
  LAPILLI_CHECK(infer_bias(g, node, kv, {a.bias, kDistances}));
  const auto& q = g.tensor(node.inputs[kQ]);
  if (a.own_column < width(kv) || q.cols < a.own_column + 2 * width(kv))
    return node_error(node, "q has %u columns, too few for %u heads with a key and a value", ull{q.cols}, kv.heads);
  if (a.step) {
    if (q.rows > state::MAX_ROWS) return node_error(node, "a step has at most %u rows", state::MAX_ROWS);
    if (a.lineage_beam_slots < kv.slots)
      return node_error(node, "lineage has %u beam slots, the cache %u", a.lineage_beam_slots, kv.slots);
    LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kStep), "step", state::STEP_QUEUE));
    return expect_words(g, node, operand(node.inputs, kLineage), "lineage",
                        state::lineage_words(a.lineage_beam_slots, a.lineage_positions));
  }
  if (a.batch == 0 || a.queries == 0 || a.batch > kv.slots || a.queries > kv.positions || a.batch > state::MAX_ROWS ||
      q.rows != uint64_t{a.batch} * a.queries)
    return node_error(node, "%u rows are not %u sentences of %u positions in %u slots of %u", ull{q.rows}, a.batch,
                      a.queries, kv.slots, kv.positions);
  return expect_words(g, node, operand(node.inputs, kLengths), "lengths", 2 * uint64_t{a.batch});
}

std::vector<Variant> variants(const Capabilities& caps, const graph::Graph&, const graph::Node& node) {
  return {{0, "workgroup a row and head", true,
           attention_numbers(caps, Tuned::attention, node.attributes.as<StreamAttentionAttributes>().kv, false)}};
}

class Lowering {
 public:
  Lowering(const LowerContext& context, const graph::Node& node, const Numbers& numbers, std::vector<Dispatch>& out)
      : context_(context),
        node_(node),
        numbers_(numbers),
        out_(out),
        a_(node.attributes.as<StreamAttentionAttributes>()) {}

  Status run() {
    LAPILLI_CHECK(check_attention(context_, node_, numbers_, a_.kv, false));
    LAPILLI_TRY(auto block, kv_block(context_, node_, node_.inputs[kKv], a_.kv, a_.step ? a_.beams : 1));
    const uint64_t slots = a_.step ? a_.kv.slots : a_.batch;
    uint64_t queries = a_.step ? 1 : a_.queries;
    if (!a_.step) LAPILLI_CHECK(fit_rows(block, queries));
    for (uint64_t h = 0; h < a_.kv.heads; h += block.heads)
      for (uint64_t s = 0; s < slots; s += block.slots) {
        const KvPart part{h, std::min<uint64_t>(a_.kv.heads, h + block.heads), s, std::min(slots, s + block.slots)};
        if (a_.step) {
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

  // Takes fewer sentences, then queries, until rows and grid fit.
  Status fit_rows(KvBlock& block, uint64_t& queries) const {
    const uint64_t limit = context_.caps.max_storage_range;
    const uint64_t row_bytes = std::max(q().ld, context().ld) * 4;
    block.slots = std::min<uint64_t>(block.slots, a_.batch);
    const auto fits = [&] {
      const bool whole = block.slots == a_.batch && queries == a_.queries;
      const uint64_t room = whole ? limit : limit - std::min(limit, context_.caps.storage_alignment);
      return ((block.slots - 1) * a_.queries + queries) * row_bytes <= room &&
             block.slots * queries * block.heads <= max_groups(context_.caps);
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

  // Sets the cache, the distances, and the words that both forms share.
  Status prepare(const KvPart& part, Dispatch& d, AttentionPush& p) const {
    d.constants = {numbers_.local, a_.kv.head_dim};
    if (a_.step) d.constants.push_back(kv_format(context_, node_));
    d.operands.push_back(bind_kv(context_, {node_.inputs[kKv]}, a_.kv, part, p));
    LAPILLI_CHECK(bind_distances(context_, node_, {a_.bias, kDistances}, d, p));
    p.groups = static_cast<uint32_t>(d.groups);
    p.ld = static_cast<uint32_t>(q().ld);
    p.out_ld = static_cast<uint32_t>(context().ld);
    p.scale = a_.scale;
    return {};
  }

  Status emit_step(const KvPart& part) {
    Dispatch d;
    d.shader = ShaderId::stream_attention_step;
    d.groups = q().rows * (part.h1 - part.h0);
    if (d.groups > max_groups(context_.caps))
      return node_error(node_, "%u workgroups exceed this device's grid", ull{d.groups});
    StepPush p{};
    LAPILLI_CHECK(prepare(part, d, p.common));
    p.own_column = a_.own_column;
    p.stream = a_.stream;
    for (const auto& [binding, tensor, access] : {std::tuple{0u, node_.inputs[kQ], graph::Access::read},
                                                  std::tuple{2u, node_.inputs[kLineage], graph::Access::read},
                                                  std::tuple{3u, node_.outputs[0], graph::Access::write},
                                                  std::tuple{4u, node_.inputs[kStep], graph::Access::read}}) {
      LAPILLI_TRY(const auto whole, bind_whole(context_, binding, tensor, access));
      d.operands.push_back(whole);
    }
    follow_live_rows(d, p.common.heads, 1);
    p.lineage_beam_slots = a_.lineage_beam_slots;
    p.lineage_positions = a_.lineage_positions;
    d.set_push(p);
    d.cost = 4.0 * static_cast<double>(d.groups) * a_.kv.positions * a_.kv.head_dim;
    out_.push_back(std::move(d));
    return {};
  }

  Status emit_sequence(const KvPart& part, uint64_t query_begin, uint64_t query_count) {
    Dispatch d;
    d.shader = ShaderId::stream_attention;
    d.groups = (part.s1 - part.s0) * (part.h1 - part.h0) * query_count;
    SequencePush p{};
    LAPILLI_CHECK(prepare(part, d, p.common));
    p.own_column = a_.own_column;
    p.stream = a_.stream;
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
    LAPILLI_TRY(const auto lengths, bind_whole(context_, 6, node_.inputs[kLengths], graph::Access::read));
    d.operands.push_back(lengths);
    p.queries = a_.queries;
    p.query_begin = static_cast<uint32_t>(query_begin);
    p.query_count = static_cast<uint32_t>(query_count);
    d.set_push(p);
    d.cost = 2.0 * static_cast<double>(d.groups) * a_.queries * a_.kv.head_dim;
    out_.push_back(std::move(d));
    return {};
  }

  const LowerContext& context_;
  const graph::Node& node_;
  const Numbers numbers_;
  std::vector<Dispatch>& out_;
  const StreamAttentionAttributes a_;
};

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  return Lowering(context, node, v.numbers, out).run();
}

// A key followed by its value, and its bias.
struct VisibleKey {
  std::vector<double> key;
  double bias;
};

// The context of one head of one row.
void attend_keys(const KvShape& kv, const double* q, double scale, const std::vector<VisibleKey>& keys,
                 double* context) {
  std::vector<double> scores;
  for (const VisibleKey& k : keys) {
    double s = 0;
    for (uint32_t d = 0; d < kv.head_dim; ++d) s += q[d] * k.key[d];
    scores.push_back(s * scale + k.bias);
  }
  const double top = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& s : scores) sum += s = std::exp(s - top);
  std::fill_n(context, kv.head_dim, 0.0);
  for (size_t i = 0; i < keys.size(); ++i)
    for (uint32_t d = 0; d < kv.head_dim; ++d) context[d] += scores[i] / sum * keys[i].key[kv.head_dim + d];
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<StreamAttentionAttributes>();
  const auto &x = g.tensor(node.inputs[kQ]), &y = g.tensor(node.outputs[0]);
  const HostKv cache(g, node.inputs[kKv], values);
  auto& out = values.at(node.outputs[0]).f;
  std::fill(out.begin(), out.end(), 0.0);
  const HostBias bias(node, a.kv, {a.bias, kDistances}, values);
  const uint32_t* step = a.step ? values.at(node.inputs[kStep]).u.data() : nullptr;
  const uint64_t rows = step ? std::min<uint64_t>(x.rows, step[state::STEP_LIVE]) : x.rows;
  for (uint64_t r = 0; r < rows; ++r) {
    const uint32_t word = step ? step[state::STEP_ROWS + r] : 0;
    const uint64_t slot = step ? state::beam_slot_of(word) : r / a.queries;
    const uint64_t query = step ? state::position_of(word) : r % a.queries;
    const uint64_t length =
        std::min(step ? a.kv.positions : values.at(node.inputs[kLengths]).u[2 * slot + 1], a.kv.positions);
    const double* row = values.at(node.inputs[kQ]).f.data() + r * x.ld;
    for (uint64_t h = 0; h < a.kv.heads; ++h) {
      const double* own = row + a.own_column + h * 2 * a.kv.head_dim;
      std::vector<VisibleKey> keys{{{own, own + 2 * a.kv.head_dim}, bias(query, query, h, row)}};
      for (uint64_t j = 0; j < length && j <= query; ++j) {
        if (j + a.stream > query && j != 0) continue;
        uint64_t holder = slot;
        if (step && j != query)
          holder = values.at(node.inputs[kLineage])
                       .u[state::lineage_word(state::lineage_parity(state::position_of(word)), state::LINEAGE_ANCESTRY,
                                              slot, j, a.lineage_beam_slots, a.lineage_positions)];
        keys.push_back({cache.cell(a.kv, h, holder, j), bias(j, query + 1, h, row)});
      }
      attend_keys(a.kv, row + h * a.kv.head_dim, static_cast<double>(a.scale), keys,
                  out.data() + r * y.ld + h * a.kv.head_dim);
    }
  }
}

struct CaseShape {
  uint32_t heads, head_dim, stream = 0;
  uint32_t sentences = 1, positions = 1;
  // a step; rows 0: whole sequences
  uint32_t rows = 0, live = 0, beams = 1, step = 0;
  KvFormat format = KvFormat::fp32;
};

void step_inputs(OpCase& c, const CaseShape& s, StreamAttentionAttributes& a, ops::StreamTensors& t,
                 CaseRandom& random) {
  a.step = 1;
  a.beams = s.beams;
  a.lineage_beam_slots = a.kv.slots + 1;  // strides larger than the cache's
  a.lineage_positions = s.positions + 3;
  a.kv.layout = RowLayout::step;
  c.live_rows = s.live;
  t.step = add_step(c.graph);
  std::vector<uint32_t> row_slots;
  for (uint32_t r = 0; r < s.rows; ++r) row_slots.push_back(a.kv.slots - 1 - r % a.kv.slots);
  c.inputs.emplace_back(t.step, step_values(mixed_positions(s.step, s.rows), s.live, row_slots));
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

OpCase make_case(const CaseShape& s) {
  OpCase c;
  c.name = format("stream %u heads %ux%u sentences %u positions %u", s.stream, s.heads, s.head_dim, s.sentences,
                  s.positions);
  if (s.rows) c.name += format(" step %u rows %u of %u beams %u", s.step, s.live, s.rows, s.beams);
  c.name += suffix(s.format);
  CaseRandom random(s.heads * 3 + s.head_dim * 5 + s.positions * 7 + s.step);
  StreamAttentionAttributes a;
  a.kv = {s.heads, s.head_dim, s.sentences * s.beams, s.positions};
  a.stream = s.stream;
  a.bias = bias_case(BiasForm::rows, -static_cast<int32_t>(s.positions) / 2, 0, a.kv);
  a.scale = 0.3f;
  a.own_column = static_cast<uint32_t>(bias_columns(a.bias, a.kv));
  ops::StreamTensors t;
  const uint64_t rows = s.rows ? s.rows : uint64_t{s.sentences} * s.positions;
  t.q = c.graph.activation("q", rows, a.own_column + 2 * width(a.kv));
  const KvLayout layout(a.kv, s.format);
  t.kv = add_kv(c.graph, StateKind::self_kv, layout);
  c.inputs.emplace_back(t.q, random_values(c.graph.tensor(t.q), random, 2));
  c.inputs.emplace_back(t.kv, kv_values(layout, random, 2));
  t.distances = add_bias_inputs(c, a.bias, a.kv, random).distances;
  if (s.rows) {
    step_inputs(c, s, a, t, random);
  } else {
    a.batch = s.sentences;
    a.queries = s.positions;
    t.lengths = add_lengths(c.graph);
    std::vector<std::pair<uint32_t, uint32_t>> lengths;
    for (uint32_t i = 0; i < s.sentences; ++i) lengths.emplace_back(0, i == 2 ? 0 : s.positions - i % s.positions);
    c.inputs.emplace_back(t.lengths, length_values(lengths));
  }
  ops::stream_attention(c.graph, "context", t, a);
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case({1, 1}));
  all.push_back(make_case({4, 8, 0, 2, 12}));
  all.push_back(make_case({3, 5, 1, 3, 9}));  // one sentence without keys, padded rows
  all.push_back(make_case({2, 12, 3, 1, 5}));
  all.push_back(make_case({2, 64, 0, 1, 140}));  // more than a chunk of keys
  all.push_back(make_case({1, 255, 2, 1, 7}));
  all.push_back(make_case({1, 256, 0, 1, 7}));
  all.push_back(make_case({8, 64, 1, 3, 20}));  // sliced on devices with small bindings
  for (const auto kv : {KvFormat::fp32, KvFormat::fp16}) {
    all.push_back(make_case({2, 8, 0, 1, 5, 1, 1, 1, 0, kv}));
    all.push_back(make_case({2, 8, 0, 1, 5, 1, 1, 1, 4, kv}));
    all.push_back(make_case({3, 12, 0, 4, 9, 8, 5, 2, 6, kv}));
    all.push_back(make_case({4, 16, 2, 4, 9, 8, 8, 2, 5, kv}));
    all.push_back(make_case({2, 64, 0, 4, 300, 12, 7, 3, 260, kv}));
    all.push_back(make_case({3, 5, 0, 3, 7, 3, 3, 1, 3, kv}));
    all.push_back(make_case({2, 8, 0, 4, 6, 4, 0, 1, 2, kv}));  // no live rows
  }
  return all;
}

constexpr OpDef op{"stream_attention", infer, variants, lower, reference, cases};

}  // namespace
}  // namespace stream_attention_impl

constinit const OpDef stream_attention_op = stream_attention_impl::op;

graph::TensorId ops::stream_attention(graph::Graph& g, const std::string& label, const StreamTensors& t,
                                      const StreamAttentionAttributes& attributes) {
  const auto context = g.rows_like(label, t.q, stream_attention_impl::width(attributes.kv));
  g.add_node({&stream_attention_op,
              label,
              {t.q, t.kv, t.lineage, t.step, t.lengths, t.distances},
              {context},
              graph::Attributes(attributes)});
  return context;
}

}  // namespace lapilli
