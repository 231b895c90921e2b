// "attention": see attention.hpp.
#include <algorithm>

#include "ops/attention_util.hpp"
#include "ops/case_util.hpp"
#include "ops/lower_util.hpp"
#include "ops/registry.hpp"

namespace lapilli {
namespace {

using ull = unsigned long long;

struct Push {
  AttentionPush common;
  uint32_t queries, query_begin, query_end, tiles;
  uint32_t keys, causal;
  uint32_t weights_begin, weights_ld;
};
constexpr uint64_t kQueriesPerGroup = 4;

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<AttentionAttributes>();
  LAPILLI_CHECK(infer_heads(g, node, a.kv));
  if (a.batch == 0 || a.queries == 0 || a.batch > a.kv.slots || a.keys > a.kv.positions || a.batch > kMaxRows)
    return node_error(node, "%u sentences with %u keys do not fit %u slots of %u positions", a.batch, a.keys,
                      a.kv.slots, a.kv.positions);
  LAPILLI_CHECK(expect_input(g, node, 0, {"q", uint64_t{a.batch} * a.queries}));
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, 2), "lengths", 2 * uint64_t{a.batch}));
  if (operand(node.outputs, 1) != graph::kNone)
    LAPILLI_CHECK(expect_output(g, node, 1, {"weights", uint64_t{a.batch} * a.kv.heads * a.queries, a.keys}));
  return {};
}

std::vector<Variant> variants(const Capabilities&, const graph::Graph&, const graph::Node&) {
  return {{0, "workgroup a head"}};
}

class Lowering {
 public:
  Lowering(const LowerContext& context, const graph::Node& node, std::vector<Dispatch>& out)
      : context_(context),
        node_(node),
        out_(out),
        a_(node.attributes.as<AttentionAttributes>()),
        weights_(operand(node.outputs, 1)),
        ld_(context.graph.tensor(node.inputs[0]).ld) {
    limit_ = context.caps.max_storage_range;
    room_ = limit_ - std::min(limit_, context.caps.storage_alignment);
  }

  Status run() {
    LAPILLI_TRY(auto block, kv_block(context_, node_, node_.inputs[1], a_.kv, 1));
    block.slots = std::min<uint64_t>(block.slots, a_.batch);
    uint64_t queries = a_.queries;
    LAPILLI_CHECK(fit_rows(block, queries));
    for (uint64_t h = 0; h < a_.kv.heads; h += block.heads)
      for (uint64_t b = 0; b < a_.batch; b += block.slots)
        for (uint64_t i = 0; i < a_.queries; i += queries)
          LAPILLI_CHECK(emit(
              {h, std::min<uint64_t>(a_.kv.heads, h + block.heads), b, std::min<uint64_t>(a_.batch, b + block.slots)},
              i, std::min<uint64_t>(a_.queries, i + queries)));
    return {};
  }

 private:
  // Bytes from the first to the last row of q, and of the weights.
  [[nodiscard]] uint64_t q_bytes(uint64_t sentences, uint64_t queries) const {
    return ((sentences - 1) * a_.queries + queries) * ld_ * 4;
  }
  [[nodiscard]] uint64_t weight_bytes(uint64_t sentences, uint64_t heads, uint64_t queries) const {
    if (weights_ == graph::kNone) return 0;
    return (((sentences - 1) * a_.kv.heads + heads - 1) * a_.queries + queries) * context_.graph.tensor(weights_).ld *
           4;
  }

  // Fewer sentences, then heads, then queries, until the rows fit.
  Status fit_rows(KvBlock& block, uint64_t& queries) const {
    const auto q_fits = [&] {
      const bool whole = block.slots == a_.batch && queries == a_.queries;
      return q_bytes(block.slots, queries) <= (whole ? limit_ : room_);
    };
    const auto weights_fit = [&] {
      return weight_bytes(block.slots, block.heads, queries) <= room_ || weights_ == graph::kNone;
    };
    while (!q_fits() || !weights_fit()) {
      if (block.slots > 1)
        block.slots = div_up<uint64_t>(block.slots, 2);
      else if (!weights_fit() && block.heads > 1)
        block.heads = div_up<uint64_t>(block.heads, 2);
      else if (queries > 1)
        queries = div_up<uint64_t>(queries, 2);
      else
        return node_error(node_, "one query exceeds this device's binding limit of %llu bytes", ull{limit_});
    }
    return {};
  }

  Status emit(const KvPart& part, uint64_t query_begin, uint64_t query_end) {
    Dispatch d;
    const bool vec = heads_are_vec4(a_.kv), with_weights = weights_ != graph::kNone;
    d.shader = vec ? (with_weights ? ShaderId::attention_vec_weights : ShaderId::attention_vec)
                   : (with_weights ? ShaderId::attention_any_weights : ShaderId::attention_any);
    d.constants = {attention_local(context_.caps, a_.kv), a_.kv.head_dim};
    Push p{};
    const uint64_t sentences = part.s1 - part.s0, heads = part.h1 - part.h0, queries = query_end - query_begin;
    const uint64_t tiles = div_up(queries, kQueriesPerGroup);
    d.groups = tiles * sentences * heads;
    if (d.groups > max_groups(context_.caps))
      return node_error(node_, "%llu workgroups exceed this device's grid", ull{d.groups});
    const uint64_t begin = (part.s0 * a_.queries + query_begin) * ld_, bytes = q_bytes(sentences, queries);
    uint32_t delta = 0;
    d.operands.push_back(
        bind_range(context_, 0, node_.inputs[0], begin * 4, begin * 4 + bytes, graph::Access::read, delta));
    p.common.q_begin = static_cast<uint32_t>(delta - begin);
    d.operands.push_back(bind_kv(context_, node_.inputs[1], a_.kv, part, p.common));
    d.operands.push_back(
        bind_range(context_, 2, node_.outputs[0], begin * 4, begin * 4 + bytes, graph::Access::write, delta));
    p.common.out_begin = static_cast<uint32_t>(delta - begin);
    if (with_weights) {
      const uint64_t ld = context_.graph.tensor(weights_).ld;
      const uint64_t first = ((part.s0 * a_.kv.heads + part.h0) * a_.queries + query_begin) * ld;
      d.operands.push_back(bind_range(context_, 3, weights_, first * 4,
                                      first * 4 + weight_bytes(sentences, heads, queries), graph::Access::read_write,
                                      delta));
      p.weights_begin = static_cast<uint32_t>(delta - first);
      p.weights_ld = static_cast<uint32_t>(ld);
    }
    LAPILLI_TRY(const auto lengths, bind_whole(context_, 6, node_.inputs[2], graph::Access::read));
    d.operands.push_back(lengths);
    p.common.groups = static_cast<uint32_t>(d.groups);
    p.common.ld = static_cast<uint32_t>(ld_);
    p.common.scale = a_.scale;
    p.queries = a_.queries;
    p.query_begin = static_cast<uint32_t>(query_begin);
    p.query_end = static_cast<uint32_t>(query_end);
    p.tiles = static_cast<uint32_t>(tiles);
    p.keys = a_.keys;
    p.causal = a_.causal;
    d.set_push(p);
    d.cost = 4.0 * static_cast<double>(sentences * heads * queries) * a_.keys * a_.kv.head_dim;
    out_.push_back(std::move(d));
    return {};
  }

  const LowerContext& context_;
  const graph::Node& node_;
  std::vector<Dispatch>& out_;
  const AttentionAttributes a_;
  const graph::TensorId weights_;
  const uint64_t ld_;
  uint64_t limit_ = 0, room_ = 0;
};

Status lower(const LowerContext& context, const graph::Node& node, Variant, std::vector<Dispatch>& out) {
  return Lowering(context, node, out).run();
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<AttentionAttributes>();
  const auto& t = g.tensor(node.inputs[0]);
  const auto &q = values.at(node.inputs[0]).f, &kv = values.at(node.inputs[1]).f;
  const auto& lengths = values.at(node.inputs[2]).u;
  auto& out = values.at(node.outputs[0]).f;
  const auto weights = operand(node.outputs, 1);
  std::fill(out.begin(), out.end(), 0.0);
  if (weights != graph::kNone) std::fill(values.at(weights).f.begin(), values.at(weights).f.end(), 0.0);
  for (uint64_t b = 0; b < a.batch; ++b)
    for (uint64_t h = 0; h < a.kv.heads; ++h)
      for (uint64_t i = 0; i < a.queries; ++i) {
        const uint64_t at = (b * a.queries + i) * t.ld + h * a.kv.head_dim;
        double* row = nullptr;
        if (weights != graph::kNone)
          row = values.at(weights).f.data() + ((b * a.kv.heads + h) * a.queries + i) * g.tensor(weights).ld;
        attend(
            a.kv, kv, q.data() + at, h, std::min(lengths[2 * b], a.keys), std::min(lengths[2 * b + 1], a.keys),
            static_cast<double>(a.scale), [b](uint64_t) { return b; }, [&](uint64_t j) { return !a.causal || j <= i; },
            out.data() + at, row);
      }
}

struct CaseShape {
  uint32_t batch, queries, keys, heads, head_dim;
  bool causal = false, weights = false;
  uint32_t slots = 0, positions = 0;  // 0: as batch and keys
};

OpCase make_case(const CaseShape& s, const std::vector<std::pair<uint32_t, uint32_t>>& lengths) {
  OpCase c;
  c.name = format("batch %u queries %u keys %u heads %ux%u%s%s", s.batch, s.queries, s.keys, s.heads, s.head_dim,
                  s.causal ? " causal" : "", s.weights ? " weights" : "");
  AttentionAttributes a;
  a.batch = s.batch;
  a.queries = s.queries;
  a.keys = s.keys;
  a.causal = s.causal;
  a.scale = 0.25f;
  a.kv = {s.heads, s.head_dim, s.slots ? s.slots : s.batch, s.positions ? s.positions : s.keys};
  CaseRandom random(s.batch * 3 + s.queries * 5 + s.keys * 7 + s.head_dim);
  const auto q = c.graph.activation("q", uint64_t{s.batch} * s.queries, uint64_t{s.heads} * s.head_dim);
  const auto kv = add_state(c.graph, "kv", StateKind::cross_kv, a.kv.words(), graph::DType::f32);
  const auto l = add_lengths(c.graph);
  ops::attention(c.graph, "context", q, kv, l, a, s.weights);
  c.inputs.emplace_back(q, random_values(c.graph.tensor(q), random, 2));
  c.inputs.emplace_back(kv, random_values(c.graph.tensor(kv), random, 2));
  c.inputs.emplace_back(l, length_values(lengths));
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case({1, 1, 1, 1, 8}, {{0, 1}}));
  all.push_back(make_case({2, 7, 7, 4, 8}, {{0, 7}, {0, 3}}));
  all.push_back(make_case({2, 7, 7, 4, 8, true}, {{0, 7}, {0, 3}}));
  all.push_back(make_case({3, 5, 11, 3, 12}, {{0, 11}, {4, 9}, {5, 5}}));  // left padding; no key at all
  all.push_back(make_case({3, 5, 11, 3, 12, false, true}, {{0, 11}, {4, 9}, {5, 5}}));
  all.push_back(make_case({2, 13, 13, 2, 16, true, true}, {{0, 13}, {2, 13}}));
  all.push_back(make_case({1, 131, 131, 2, 64}, {{0, 131}}));  // more than a chunk of keys
  all.push_back(make_case({1, 131, 131, 2, 64, true}, {{0, 131}}));
  all.push_back(make_case({1, 9, 300, 2, 32, false, true}, {{3, 290}}));
  all.push_back(make_case({2, 5, 6, 3, 5}, {{0, 6}, {1, 4}}));  // heads that are no vec4, padded rows
  all.push_back(make_case({2, 5, 6, 3, 5, true, true}, {{0, 6}, {0, 4}}));
  all.push_back(make_case({1, 3, 5, 1, 255}, {{0, 5}}));
  all.push_back(make_case({1, 3, 9, 2, 256}, {{0, 9}}));
  all.push_back(make_case({4, 17, 23, 8, 64, false, false, 5, 31}, {{0, 23}, {0, 1}, {22, 23}, {0, 0}}));
  all.push_back(make_case({3, 40, 60, 4, 64, false, true}, {{0, 60}, {0, 17}, {0, 59}}));
  return all;
}

}  // namespace

constinit const OpDef attention_op{"attention", infer, variants, lower, reference, cases};

ops::AttentionResult ops::attention(graph::Graph& g, const std::string& label, graph::TensorId q, graph::TensorId kv,
                                    graph::TensorId lengths, const AttentionAttributes& a, bool want_weights) {
  const auto context = g.activation(label, g.tensor(q).rows, g.tensor(q).cols);
  const auto weights = want_weights
                           ? g.activation(label + " weights", uint64_t{a.batch} * a.kv.heads * a.queries, a.keys)
                           : graph::kNone;
  g.add_node({&attention_op, label, {q, kv, lengths}, {context, weights}, graph::Attributes(a)});
  return {context, weights};
}

}  // namespace lapilli
