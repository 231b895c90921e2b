// "share_weights": see join_contexts.hpp.
#include <algorithm>
#include <cmath>

#include "ops/attention/attention.hpp"
#include "ops/attention/join_contexts.hpp"
#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"

namespace lapilli {
namespace share_weights_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, first_row, heads, queries, sums, weights_ld, ld, weights_begin, own_begin, other_begin;)
};

enum Input : size_t { kWeights, kOwn, kOther };

KvShape heads_of(const ShareWeightsAttributes& a) {
  KvShape kv;
  kv.heads = a.heads;
  kv.head_dim = a.head_dim;
  return kv;
}

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<ShareWeightsAttributes>();
  if (a.heads == 0 || a.head_dim == 0 || a.queries == 0) return node_error(node, "no heads or queries");
  const uint64_t columns = columns_with_log_sums(heads_of(a));
  LAPILLI_CHECK(expect_input(g, node, kOwn, {"own", 0, columns}));
  const auto& own = g.tensor(node.inputs[kOwn]);
  if (own.rows % a.queries != 0) return node_error(node, "%u rows of sentences with %u queries", own.rows, a.queries);
  LAPILLI_CHECK(expect_input(g, node, kOther, {"other", own.rows, columns}));
  if (g.tensor(node.inputs[kOther]).ld != own.ld) return node_error(node, "rows of two widths");
  LAPILLI_CHECK(expect_input(g, node, kWeights, {"weights", own.rows * a.heads}));
  if (node.outputs.size() == 1 && g.root(node.outputs[0]) == g.root(node.inputs[kWeights])) return {};
  return node_error(node, "weights are not updated in place");
}

// Binds the contexts' rows of the sentences that have these rows of weights.
Status bind_contexts(const LowerContext& context, const graph::Node& node, const RowSlice& rows, Dispatch& d,
                     Push& push) {
  const auto a = node.attributes.as<ShareWeightsAttributes>();
  const uint64_t of_sentence = uint64_t{a.heads} * a.queries, bytes = uint64_t{push.ld} * 4;
  const uint64_t first = rows.begin / of_sentence * a.queries, end = div_up(rows.end, of_sentence) * a.queries;
  const uint64_t room = context.caps.max_storage_range, slack = first == 0 ? 0 : context.caps.storage_alignment;
  if ((end - first) * bytes + slack > room)
    return node_error(node, "%u queries exceed this device's binding limit of %u bytes; use shorter texts", a.queries,
                      room);
  const auto bind = [&](uint32_t binding, size_t input) {
    uint32_t delta = 0;
    d.operands.push_back(
        bind_range(context, binding, {node.inputs[input], first * bytes, end * bytes, graph::Access::read}, delta));
    return static_cast<uint32_t>(delta - first * push.ld);
  };
  push.own_begin = bind(1, kOwn);
  push.other_begin = bind(2, kOther);
  return {};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}));
  const auto a = node.attributes.as<ShareWeightsAttributes>();
  const auto &t = context.graph.tensor(node.inputs[kWeights]), &own = context.graph.tensor(node.inputs[kOwn]);
  // Heads share a context's row, so that a slice has fewer of these than of the weights, but for its first and last
  // sentence.
  LAPILLI_TRY(const auto slices, row_slices(context, node, t.rows, {std::max(t.ld, own.ld) * 4, 1}));
  for (const RowSlice& slice : slices) {
    Dispatch d;
    d.shader = ShaderId::share_weights;
    d.constants = {v.numbers.local};
    d.groups = slice.end - slice.begin;
    Push push{static_cast<uint32_t>(d.groups),
              static_cast<uint32_t>(slice.begin),
              a.heads,
              a.queries,
              log_sums_column(heads_of(a)),
              static_cast<uint32_t>(t.ld),
              static_cast<uint32_t>(own.ld),
              0,
              0,
              0};
    uint32_t delta = 0;
    d.operands.push_back(bind_range(
        context, 0, {node.inputs[kWeights], slice.begin * t.ld * 4, slice.end * t.ld * 4, graph::Access::read_write},
        delta));
    push.weights_begin = static_cast<uint32_t>(delta - slice.begin * t.ld);
    LAPILLI_CHECK(bind_contexts(context, node, slice, d, push));
    d.set_push(push);
    d.cost = static_cast<double>(d.groups * t.ld);
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<ShareWeightsAttributes>();
  const auto &t = g.tensor(node.inputs[kWeights]), &own = g.tensor(node.inputs[kOwn]);
  auto& weights = values.at(node.inputs[kWeights]).f;
  for (uint64_t r = 0; r < t.rows; ++r) {
    const uint64_t query = r % a.queries, head = r / a.queries % a.heads, sentence = r / a.queries / a.heads;
    const uint64_t at = (sentence * a.queries + query) * own.ld + log_sums_column(heads_of(a)) + 4 * head;
    const double mine = values.at(node.inputs[kOwn]).f[at], other = values.at(node.inputs[kOther]).f[at];
    const double top = std::max(mine, other), part = std::exp(mine - top);
    for (uint64_t c = 0; c < t.ld; ++c) weights[r * t.ld + c] *= part / (part + std::exp(other - top));
  }
}

struct CaseShape {
  uint32_t sentences, queries, keys, heads, head_dim;
};

OpCase make_case(const CaseShape& s) {
  OpCase c;
  const ShareWeightsAttributes a{s.heads, s.head_dim, s.queries};
  c.name =
      format("%u sentences of %u queries, %u keys, heads %ux%u", s.sentences, s.queries, s.keys, s.heads, s.head_dim);
  const uint64_t rows = uint64_t{s.sentences} * s.queries, columns = columns_with_log_sums(heads_of(a));
  const auto weights = c.graph.activation("weights", rows * s.heads, s.keys);
  const auto own = c.graph.activation("own", rows, columns), other = c.graph.activation("other", rows, columns);
  ops::share_weights(c.graph, c.name, weights, {own, other}, a);
  CaseRandom random(s.queries * 31 + s.keys * 7 + s.head_dim);
  for (const auto id : {weights, own, other})
    c.inputs.emplace_back(id, random_values(c.graph.tensor(id), random, id == weights ? 1 : 4));
  // Some queries see no keys of the others.
  const uint64_t ld = c.graph.tensor(other).ld, sums = log_sums_column(heads_of(a));
  for (uint64_t r = 0; r < rows; r += 3)
    for (uint64_t h = 0; h < s.heads; ++h)
      c.inputs.back().second.f[r * ld + sums + 4 * h] = static_cast<double>(state::MASKED);
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case({1, 1, 1, 1, 1}));
  all.push_back(make_case({2, 5, 7, 3, 12}));
  all.push_back(make_case({3, 4, 9, 2, 5}));
  all.push_back(make_case({2, 30, 40, 4, 64}));  // sliced on devices with small bindings
  return all;
}

constexpr OpDef op{"share_weights", infer, only_variant<Tuned::unfold, "workgroup a row">, lower, reference, cases};

}  // namespace
}  // namespace share_weights_impl

constinit const OpDef share_weights_op = share_weights_impl::op;

graph::TensorId ops::share_weights(graph::Graph& g, const std::string& label, graph::TensorId weights,
                                   const SharedContexts& contexts, const ShareWeightsAttributes& attributes) {
  const auto y = g.updated(label, weights);
  g.add_node({&share_weights_op, label, {weights, contexts.own, contexts.other}, {y}, graph::Attributes(attributes)});
  return y;
}

}  // namespace lapilli
