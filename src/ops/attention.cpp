// "attention": see attention.hpp. Online softmax: Milakov and Gimelshein 2018.
#include "ops/attention.hpp"

#include <algorithm>
#include <cmath>

#include "ops/attention_reference.hpp"
#include "ops/case_util.hpp"
#include "ops/lower_util.hpp"
#include "ops/registry.hpp"

namespace lapilli {
namespace {

struct Push {
  uint32_t groups, heads, first_head, first_sentence, queries, all_heads, slots, positions, ld, q_begin, kv_begin, y_begin,
      causal;
  float scale;
  uint32_t w_begin, w_ld;
};

graph::TensorId weights_of(const graph::Node& node) { return operand(node.outputs, 1); }

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<AttentionAttributes>();
  const uint64_t rows = uint64_t{a.batch} * a.queries, width = uint64_t{a.kv.heads} * a.kv.head_dim;
  if (a.kv.head_dim == 0 || a.kv.head_dim > 256) return node_error(node, "head size %u is not between 1 and 256", a.kv.head_dim);
  if (a.batch > kMaxRows || a.batch > a.kv.slots || a.keys > a.kv.positions)
    return node_error(node, "%u sentences of %u keys do not fit the keys and values", a.batch, a.keys);
  LAPILLI_CHECK(expect_input(g, node, 0, {"q", rows, width}));
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, 1), "kv", a.kv.words()));
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, 2), "lengths", 2 * uint64_t{a.batch}));
  LAPILLI_CHECK(expect_output(g, node, 0, {"context", rows, width}));
  if (weights_of(node) != graph::kNone)
    LAPILLI_CHECK(expect_output(g, node, 1, {"weights", uint64_t{a.batch} * a.kv.heads * a.queries, a.keys}));
  return {};
}

std::vector<Variant> variants(const Capabilities&, const graph::Graph&, const graph::Node&) {
  return {{0, "workgroup a query"}};
}

// Heads and sentences that one dispatch covers.
struct Part {
  uint32_t head_begin, head_end, sentence_begin, sentence_end;
};

// The bytes that a part touches in each operand.
struct Spans {
  uint64_t q_begin, q_end, kv_begin, kv_end, w_begin, w_end;
  [[nodiscard]] uint64_t largest() const { return std::max({q_end - q_begin, kv_end - kv_begin, w_end - w_begin}); }
};

Spans spans(const graph::Graph& g, const graph::Node& node, const AttentionAttributes& a, const Part& p) {
  Spans s{};
  const uint64_t row = g.tensor(node.inputs[0]).ld * 4;
  s.q_begin = p.sentence_begin * uint64_t{a.queries} * row;
  s.q_end = p.sentence_end * uint64_t{a.queries} * row;
  s.kv_begin = a.kv.word(p.head_begin, p.sentence_begin, 0) * 4;
  s.kv_end = (a.kv.word(p.head_end - 1, p.sentence_end - 1, a.kv.positions - 1) + 2 * a.kv.head_dim) * 4;
  if (weights_of(node) != graph::kNone) {
    const uint64_t w_row = g.tensor(weights_of(node)).ld * 4;
    s.w_begin = (uint64_t{p.sentence_begin} * a.kv.heads + p.head_begin) * a.queries * w_row;
    s.w_end = (uint64_t{p.sentence_end - 1} * a.kv.heads + p.head_end) * a.queries * w_row;
  }
  return s;
}

// All at once; else head by head; else as many sentences of one head as fit.
Result<std::vector<Part>> parts(const LowerContext& c, const graph::Node& node, const AttentionAttributes& a) {
  const auto fits = [&](const Part& p) {
    const uint64_t groups = uint64_t{p.head_end - p.head_begin} * (p.sentence_end - p.sentence_begin) * a.queries;
    return spans(c.graph, node, a, p).largest() + c.caps.storage_alignment <= c.caps.max_storage_range && groups <= max_groups(c.caps);
  };
  const Part all{0, a.kv.heads, 0, a.batch};
  // A whole tensor at an aligned start needs no room for alignment.
  if (spans(c.graph, node, a, all).largest() <= c.caps.max_storage_range &&
      uint64_t{a.kv.heads} * a.batch * a.queries <= max_groups(c.caps))
    return std::vector<Part>{all};
  uint32_t sentences = a.batch;
  while (sentences > 1 && !fits({0, 1, 0, sentences})) --sentences;
  if (!fits({0, 1, 0, sentences}))
    return node_error(node, "one head of one sentence exceeds this device's binding limit of %llu bytes; use shorter input",
                      static_cast<unsigned long long>(c.caps.max_storage_range));
  std::vector<Part> result;
  for (uint32_t h = 0; h < a.kv.heads; ++h)
    for (uint32_t s = 0; s < a.batch; s += sentences) result.push_back({h, h + 1, s, std::min(a.batch, s + sentences)});
  return result;
}

ShaderId shader(bool vectors, bool weights) {
  if (vectors) return weights ? ShaderId::attention_vec_weights : ShaderId::attention_vec;
  return weights ? ShaderId::attention_weights : ShaderId::attention;
}

Status lower(const LowerContext& context, const graph::Node& node, Variant, std::vector<Dispatch>& out) {
  const auto a = node.attributes.as<AttentionAttributes>();
  const auto w = weights_of(node);
  const auto& g = context.graph;
  const bool vectors = a.kv.head_dim % 4 == 0;
  LAPILLI_TRY(const auto all, parts(context, node, a));
  for (const Part& p : all) {
    const Spans s = spans(g, node, a, p);
    Dispatch d;
    d.shader = shader(vectors, w != graph::kNone);
    d.constants = {context.caps.type == DeviceType::cpu ? 8u : 64u, a.kv.head_dim};
    d.groups = uint64_t{p.head_end - p.head_begin} * (p.sentence_end - p.sentence_begin) * a.queries;
    uint32_t dq = 0, dkv = 0, dy = 0, dw = 0;
    d.operands.push_back(bind_range(context, 0, node.inputs[0], s.q_begin, s.q_end, graph::Access::read, dq));
    d.operands.push_back(bind_range(context, 1, node.inputs[1], s.kv_begin, s.kv_end, graph::Access::read, dkv));
    // Other heads of the same rows may be written by other dispatches: their ranges overlap and are kept apart in time.
    d.operands.push_back(bind_range(context, 2, node.outputs[0], s.q_begin, s.q_end, graph::Access::write, dy));
    if (w != graph::kNone) d.operands.push_back(bind_range(context, 3, w, s.w_begin, s.w_end, graph::Access::write, dw));
    LAPILLI_TRY(const auto lengths, bind_whole(context, 6, node.inputs[2], graph::Access::read));
    d.operands.push_back(lengths);
    d.set_push(Push{static_cast<uint32_t>(d.groups), p.head_end - p.head_begin, p.head_begin, p.sentence_begin, a.queries,
                    a.kv.heads, a.kv.slots, a.kv.positions, static_cast<uint32_t>(g.tensor(node.inputs[0]).ld), dq,
                    vectors ? dkv / 4 : dkv, dy, a.causal, a.scale, dw,
                    w == graph::kNone ? 0 : static_cast<uint32_t>(g.tensor(w).ld)});
    d.cost = 4.0 * static_cast<double>(d.groups) * a.keys * a.kv.head_dim;
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<AttentionAttributes>();
  const auto& q = values.at(node.inputs[0]).f;
  const auto& kv = values.at(node.inputs[1]).f;
  const auto& lengths = values.at(node.inputs[2]).u;
  auto& y = values.at(node.outputs[0]).f;
  const uint64_t ld = g.tensor(node.inputs[0]).ld, heads = a.kv.heads, head_dim = a.kv.head_dim;
  const auto w_id = weights_of(node);
  std::fill(y.begin(), y.end(), 0.0);
  if (w_id != graph::kNone) std::fill(values.at(w_id).f.begin(), values.at(w_id).f.end(), 0.0);
  for (uint64_t b = 0; b < a.batch; ++b)
    for (uint64_t h = 0; h < heads; ++h)
      for (uint64_t i = 0; i < a.queries; ++i) {
        const uint64_t row = b * a.queries + i;
        uint64_t end = lengths[2 * b + 1];
        if (a.causal) end = std::min<uint64_t>(end, i + 1);
        double* weights = w_id == graph::kNone ? nullptr : values.at(w_id).f.data() + ((b * heads + h) * a.queries + i) * g.tensor(w_id).ld;
        ReferenceQuery query{q.data() + row * ld + h * head_dim, {}, head_dim, static_cast<double>(a.scale)};
        for (uint64_t k = lengths[2 * b]; k < end; ++k) query.keys.push_back(kv.data() + a.kv.word(h, b, k));
        attend_reference(query, y.data() + row * ld + h * head_dim, weights ? weights + lengths[2 * b] : nullptr);
      }
}

struct CaseShape {
  uint32_t batch, queries, keys, heads, head_dim;
  bool causal, weights;
  std::vector<std::pair<uint32_t, uint32_t>> lengths;  // per sentence; missing ones: all keys
};

OpCase make_case(const std::string& name, const CaseShape& s) {
  OpCase c;
  c.name = name;
  CaseRandom random(s.batch * 1000003 + s.queries * 1009 + s.keys * 31 + s.head_dim);
  AttentionAttributes a;
  a.batch = s.batch;
  a.queries = s.queries;
  a.keys = s.keys;
  a.causal = s.causal;
  a.scale = 1 / std::sqrt(static_cast<float>(s.head_dim));
  a.kv = {s.heads, s.head_dim, s.batch, s.keys, Place::batch, s.keys};
  const auto q = c.graph.activation("q", uint64_t{s.batch} * s.queries, uint64_t{s.heads} * s.head_dim);
  graph::Tensor t;
  t.name = "kv";
  t.rows = uint64_t{s.heads} * s.batch * s.keys;
  t.cols = t.ld = 2 * s.head_dim;
  const auto kv = c.graph.add_tensor(t);
  const auto lengths = add_lengths(c.graph);
  ops::attention(c.graph, name, q, kv, lengths, a, s.weights);
  c.inputs.emplace_back(q, random_values(c.graph.tensor(q), random, 2));
  c.inputs.emplace_back(kv, random_values(c.graph.tensor(kv), random, 2));
  auto ranges = s.lengths;
  while (ranges.size() < s.batch) ranges.emplace_back(0, s.keys);
  c.inputs.emplace_back(lengths, length_values(ranges));
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const bool weights : {false, true}) {
    const std::string suffix = weights ? " with weights" : "";
    all.push_back(make_case("one query, one key" + suffix, {1, 1, 1, 1, 8, false, weights, {}}));
    all.push_back(make_case("self 3x11" + suffix, {3, 11, 11, 4, 8, false, weights, {{0, 11}, {0, 7}, {0, 1}}}));
    all.push_back(make_case("causal 2x13" + suffix, {2, 13, 13, 3, 12, true, weights, {{0, 13}, {0, 5}}}));
    all.push_back(make_case("cross 5 to 67" + suffix, {2, 5, 67, 2, 64, false, weights, {{0, 67}, {3, 50}}}));
    all.push_back(make_case("wholly masked row" + suffix, {2, 3, 5, 2, 16, false, weights, {{0, 0}, {2, 2}}}));
    all.push_back(make_case("left padding, causal" + suffix, {1, 9, 9, 2, 8, true, weights, {{4, 9}}}));
    all.push_back(make_case("odd head size" + suffix, {1, 7, 7, 2, 5, false, weights, {}}));
  }
  all.push_back(make_case("large head", {1, 3, 70, 1, 256, false, false, {}}));
  all.push_back(make_case("300 keys of 3 sentences", {3, 300, 300, 2, 16, false, false, {{0, 300}, {0, 211}, {0, 300}}}));
  all.push_back(make_case("prime 131", {1, 131, 131, 2, 64, true, false, {}}));
  return all;
}

}  // namespace

constinit const OpDef attention_op{"attention", infer, variants, lower, reference, cases};

ops::AttentionResult ops::attention(graph::Graph& g, const std::string& label, graph::TensorId q, graph::TensorId kv,
                                    graph::TensorId lengths, const AttentionAttributes& a, bool want_weights) {
  AttentionResult r{};
  r.context = g.activation(label, g.tensor(q).rows, g.tensor(q).cols);
  r.weights = want_weights ? g.activation(label + ".weights", uint64_t{a.batch} * a.kv.heads * a.queries, a.keys) : graph::kNone;
  std::vector<graph::TensorId> outputs{r.context};
  if (want_weights) outputs.push_back(r.weights);
  g.add_node({&attention_op, label, {q, kv, lengths}, std::move(outputs), graph::Attributes(a)});
  return r;
}

}  // namespace lapilli
