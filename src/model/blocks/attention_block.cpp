#include "model/blocks/attention_block.hpp"

#include <algorithm>
#include <cmath>

#include "model/blocks/norm.hpp"
#include "ops/attention/distance_scores.hpp"
#include "ops/attention/join_contexts.hpp"
#include "ops/attention/norm_keys.hpp"
#include "ops/attention/shaw_attention.hpp"

namespace lapilli::model {

namespace {

float attention_scale(const StackConfig& s) {
  if (s.score_scale != 0) return s.score_scale;
  return s.scaled_attention ? 1.0f / std::sqrt(static_cast<float>(s.head_dim * s.score_parts)) : 1.0f;
}

RelativeBias relative_bias(const AttentionLayer& layer) {
  RelativeBias bias;
  if (layer.w.relative_bias == kNoWeight) return bias;
  bias.form = BiasForm::table;
  bias.low = layer.w.distance_low;
  bias.count = layer.w.distance_count;
  bias.buckets = std::max(layer.stack.relative_buckets, 2u);  // a window's mask has two
  return bias;
}

bool is_pass(const SequenceAttention& how) { return how.spans != graph::kNone; }

graph::TensorId weight_or_none(Builder& b, WeightIndex index) {
  return index == kNoWeight ? graph::kNone : b.weight(index);
}

// An encode pass is a single slot with a position for each of its rows.
KvShape sequence_kv(const StackConfig& s, const SequenceAttention& how, uint32_t positions) {
  KvShape kv;
  kv.heads = s.kv_heads();
  kv.group = s.group();
  kv.head_dim = s.head_dim;
  kv.slots = is_pass(how) ? 1 : how.batch;
  kv.positions = positions;
  kv.layout = RowLayout::batch;
  kv.rows_per_slot = positions;
  return kv;
}

AttentionAttributes sequence_attributes(const AttentionLayer& layer, const KvShape& kv, const SequenceAttention& how) {
  AttentionAttributes a;
  a.batch = how.batch;
  a.queries = how.queries;
  a.keys = how.keys;
  a.kv = kv;
  a.scale = attention_scale(layer.stack);
  a.cap = layer.stack.score_cap;
  a.spans = is_pass(how) ? 1 : 0;
  return a;
}

// Queries, the tensor of their keys and values, and the tensor that the result is added to.
struct Projected {
  graph::TensorId q, kv;
  KvShape shape;
  graph::TensorId x;
};

// Terms of a recurrent decoder: the layer's lines of distances are a weight.
void add_recurrent_terms(Builder& b, const AttentionLayer& layer, AttentionAttributes& a,
                         ops::AttentionOperands& reads) {
  reads.vectors = b.weight(layer.w.lines);
  a.bias.form = BiasForm::terms;
  a.bias.low = layer.w.distance_low;
  a.bias.count = layer.w.distance_count;
  a.bias.column = round_up(layer.stack.inner(), 4u);
  a.terms.by_query = 1;
  a.terms.key_stride = layer.stack.head_dim;
}

// Terms of relative positions: the distances' vectors through the layer's projection, and where they are in the lines.
void add_terms(Builder& b, const std::string& label, const AttentionLayer& layer, const SequenceAttention& how,
               AttentionAttributes& a, ops::AttentionOperands& reads) {
  const StackConfig& s = layer.stack;
  const DistanceVectors& v = s.vectors;
  if (layer.w.lines != kNoWeight) return add_recurrent_terms(b, layer, a, reads);
  if (how.distances.rows == graph::kNone || (!v.by_query && !v.by_key)) return;
  const uint32_t inner = s.inner(), head = s.head_dim;
  const uint32_t columns = v.shared ? 3 * inner : inner * (v.by_query && v.by_key ? 2 : 1);
  reads.vectors = ops::linear(b.g(), label + ".vectors", how.distances.rows,
                              b.weight(v.shared ? layer.w.qkv : layer.w.vectors), columns);
  a.bias.form = BiasForm::terms;
  a.bias.low = layer.w.distance_low;
  a.bias.count = layer.w.distance_count;
  a.bias.column = s.segments ? inner : 0;
  a.terms = {v.by_query, v.by_key, s.segments, how.mask != graph::kNone, how.distances.first};
  a.terms.key_column = v.shared || v.by_key ? inner : 0;
  a.terms.key_stride = v.shared ? 2 * head : head;
  a.terms.segment_column = 2 * inner;
  a.terms.type_column = 3 * inner;
  if (s.segments) reads.bias = b.weight(layer.w.segments);
  a.terms.mask_row = how.mask_row;
  reads.mask = how.mask;
}

graph::TensorId add_result(Builder& b, const std::string& label, const AttentionLayer& layer, graph::TensorId context,
                           graph::TensorId x) {
  return add_linear(b, label + ".out", {layer.stack, layer.w.after_norm}, layer.w.out, {context, x});
}

ops::AttentionResult attend(Builder& b, const std::string& label, const AttentionLayer& layer, const Projected& p,
                            const SequenceAttention& how) {
  AttentionAttributes a = sequence_attributes(layer, p.shape, how);
  a.causal = how.causal ? 1 : 0;
  a.bias = relative_bias(layer);
  ops::AttentionOperands reads{p.q, p.kv, is_pass(how) ? how.spans : how.lengths};
  reads.distances = weight_or_none(b, layer.w.distances);
  reads.bias = weight_or_none(b, layer.w.relative_bias);
  add_terms(b, label, layer, how, a, reads);
  if (a.bias.form == BiasForm::terms && how.causal) a.window = how.past;
  const bool wanted = !how.keep_weights.empty(), alone = wanted && a.bias.form == BiasForm::terms;
  auto r = ops::attention(b.g(), label + ".attention", reads, a, {wanted && !alone, layer.stack.merged_attention});
  if (alone) r.weights = ops::attention(b.g(), label + ".attention.weights", reads, a, true).weights;
  return r;
}

void keep_weights(Builder& b, const SequenceAttention& how, const ops::AttentionResult& r) {
  if (!how.keep_weights.empty() && r.weights != graph::kNone) b.keep(how.keep_weights, r.weights);
}

// Rotates queries and keys in stacks with rotary positions.
void rotate_self(Builder& b, const std::string& label, const AttentionLayer& layer, ops::RotateOperands rows,
                 RotateAttributes how) {
  if (layer.w.rotations == kNoWeight) return;
  rows.table = b.weight(layer.w.rotations);
  how.halves = layer.stack.rotary_halves ? 1 : 0;
  how.norms = layer.stack.head_norm ? 1 : 0;
  how.epsilon = layer.stack.norm_epsilon;
  how.norms_last = layer.stack.head_norm_last ? 1 : 0;
  rows.norms = weight_or_none(b, layer.w.head_norms);
  ops::rotate(b.g(), label + ".rotate", rows, how);
}

// Queries, the results of attention to a set of keys, and these keys with their values.
struct Attended {
  graph::TensorId q;
  ops::AttentionResult r;
  graph::TensorId kv = graph::kNone;
};

// All queries attend to their window and the global keys; then, in models with global positions, the rows of global
// queries are overwritten by attention to all keys, with projections of their own.
Attended window_attention(Builder& b, const std::string& label, const AttentionLayer& layer, const Sublayer& in,
                          const SequenceAttention& how) {
  const KvShape shape = sequence_kv(layer.stack, how, how.queries);
  AttentionAttributes a = sequence_attributes(layer, shape, how);
  a.window = how.window;
  a.window_after = how.window_after;
  a.globals_stride = how.globals == graph::kNone ? 0 : layer.stack.globals_stride(how.keys);
  ops::AttentionOperands reads;
  reads.lengths = is_pass(how) ? how.spans : how.lengths;
  reads.globals = how.globals;
  for (const bool global : {false, true}) {
    if (global && !layer.stack.global_positions) break;
    const std::string name = label + (global ? ".global" : "");
    reads.kv = kv_activation(b, name + ".kv", shape);
    const auto weight = b.weight(global ? layer.w.global_qkv : layer.w.qkv);
    reads.q = ops::linear_kv(b.g(), name + ".qkv", in.h, weight, {layer.stack.inner(), reads.kv, shape});
    rotate_self(b, name, layer, {reads.q, reads.kv, graph::kNone, how.spans},
                {shape, layer.stack.rotary_pairs(), is_pass(how)});
    a.global_queries = global ? 1 : 0;
    reads.context = ops::attention(b.g(), name + ".attention", reads, a, {false, layer.stack.merged_attention}).context;
  }
  return {reads.q, {reads.context, graph::kNone}, reads.kv};
}

}  // namespace

graph::TensorId kv_activation(Builder& b, const std::string& label, const KvShape& shape) {
  graph::Tensor t;
  t.name = label;
  t.rows = uint64_t{shape.heads} * shape.slots * shape.positions;
  t.cols = t.ld = 2 * shape.head_dim;
  return b.g().add_tensor(std::move(t));
}

namespace {

// Attention with vectors of distances for keys and values. It has no weights to keep.
ops::AttentionResult attend_with_reach(Builder& b, const std::string& label, const AttentionLayer& layer,
                                       const Projected& p, const SequenceAttention& how) {
  ShawAttentionAttributes a;
  a.kv = p.shape;
  a.reach = layer.stack.reach;
  a.scale = attention_scale(layer.stack);
  a.rows = is_pass(how) ? ShawRows::pass : ShawRows::sequences;
  a.causal = how.causal ? 1 : 0;
  a.batch = how.batch;
  a.queries = how.queries;
  const auto bounds = is_pass(how) ? how.spans : how.lengths;
  return {ops::shaw_attention(b.g(), label + ".attention", {p.q, p.kv, b.weight(layer.w.distance_table), bounds}, a),
          graph::kNone};
}

// A KV tensor of whole sequences behind their memories, whose keys and values are written.
struct MemoryKv {
  graph::TensorId kv = graph::kNone;
  KvShape shape;  // of the rows that follow
};
MemoryKv kv_behind_memory(Builder& b, const std::string& label, const AttentionLayer& layer,
                          const SequenceAttention& how) {
  const uint32_t before = how.memory == graph::kNone ? 0 : how.keys - how.queries;
  MemoryKv to{graph::kNone, sequence_kv(layer.stack, how, how.queries + before)};
  to.kv = kv_activation(b, label + ".kv", to.shape);
  if (before == 0) return to;
  KvShape first = to.shape;
  first.rows_per_slot = before;
  ops::linear_kv(b.g(), label + ".memory", how.memory, b.weight(layer.w.qkv),
                 {layer.stack.query_columns(), to.kv, first});
  to.shape.rows_per_slot = how.queries;
  to.shape.first_position = before;
  return to;
}

// Queries, with keys and values written to a cache. Where queries alone are normalized, keys and values come from rows
// as they are.
graph::TensorId own_projections(Builder& b, const std::string& label, const AttentionLayer& layer, const Sublayer& in,
                                ops::KvTarget to) {
  if (!layer.stack.query_norm_alone) return ops::linear_kv(b.g(), label + ".qkv", in.h, b.weight(layer.w.qkv), to);
  to.q_columns = 0;
  ops::linear_kv(b.g(), label + ".kv", in.x, b.weight(layer.w.kv), to);
  return ops::linear(b.g(), label + ".q", in.h, b.weight(layer.w.qkv), layer.stack.inner());
}

Attended attend_to_own(Builder& b, const std::string& label, const AttentionLayer& layer, const Sublayer& in,
                       const SequenceAttention& how) {
  if (how.window != kNoWindow && how.keep_weights.empty()) return window_attention(b, label, layer, in, how);
  const auto [kv, shape] = kv_behind_memory(b, label, layer, how);
  auto q = own_projections(b, label, layer, in, {layer.stack.query_columns(), kv, shape});
  if (how.segments != graph::kNone) q = ops::add(b.g(), label + ".segments", q, how.segments);
  if (layer.stack.reach) return {q, attend_with_reach(b, label, layer, {q, kv, shape, in.x}, how), kv};
  rotate_self(b, label, layer, {q, kv, graph::kNone, how.spans}, {shape, layer.stack.rotary_pairs(), is_pass(how)});
  return {q, attend(b, label, layer, {q, kv, shape, in.x}, how), kv};
}

}  // namespace

graph::TensorId self_attention(Builder& b, const std::string& label, const AttentionLayer& layer, const Sublayer& in,
                               const SequenceAttention& how) {
  const auto [q, r, kv] = attend_to_own(b, label, layer, in, how);
  keep_weights(b, how, r);
  return add_result(b, label, layer, r.context, in.x);
}

TwoStreams two_stream_attention(Builder& b, const std::string& label, const AttentionLayer& layer, const TwoStreams& x,
                                const SequenceAttention& how) {
  const Attended own = attend_to_own(b, label, layer, {x.first, x.first}, how);
  keep_weights(b, how, own.r);
  const std::string name = label + ".second";
  const KvShape shape = sequence_kv(layer.stack, how, how.queries);
  // Queries alone count; keys and values of this stream are by-products that nothing reads.
  auto q = own_projections(b, name, layer, {x.second, x.second},
                           {layer.stack.query_columns(), kv_activation(b, name + ".kv", shape), shape});
  if (how.segments != graph::kNone) q = ops::add(b.g(), name + ".segments", q, how.segments);
  SequenceAttention second = how;
  second.keep_weights.clear();
  second.mask_row = how.batch * how.queries;
  const auto r = attend(b, name, layer, {q, own.kv, shape, x.second}, second);
  return {add_result(b, label, layer, own.r.context, x.first), add_result(b, name, layer, r.context, x.second)};
}

namespace {

// Keeps weights of one of two sets of keys as those of the softmax over both.
void keep_shared(Builder& b, const std::string& label, const StackConfig& s, ops::AttentionResult own,
                 graph::TensorId other, const SequenceAttention& how) {
  if (how.keep_weights.empty()) return;
  const ShareWeightsAttributes a{s.heads, s.head_dim, how.queries};
  own.weights = ops::share_weights(b.g(), label + ".share", own.weights, {own.context, other}, a);
  keep_weights(b, how, own);
}

}  // namespace

graph::TensorId merged_attention(Builder& b, const std::string& label, const MergedLayer& layer, const Sublayer& in,
                                 graph::TensorId source_kv, const MergedSequences& how) {
  const auto [q, own, kv] = attend_to_own(b, label, layer.own, in, how.own);
  const KvShape shape = sequence_kv(layer.source.stack, how.source, how.source.keys);
  const auto source = attend(b, label + ".source", layer.source, {q, source_kv, shape, in.x}, how.source);
  keep_shared(b, label, layer.own.stack, own, source.context, how.own);
  keep_shared(b, label + ".source", layer.own.stack, source, own.context, how.source);
  const auto context = ops::join_contexts(b.g(), label + ".join", own.context, source.context, shape);
  return add_result(b, label, layer.own, context, in.x);
}

graph::TensorId map_attention(Builder& b, const std::string& label, const AttentionLayer& layer, const Sublayer& in,
                              const SwinWindows& map) {
  const auto h = ops::windows(b.g(), label + ".windows", in.h, {map, 0, 0});
  AttentionAttributes a;
  a.queries = a.keys = static_cast<uint32_t>(map.area());
  a.batch = static_cast<uint32_t>(b.g().tensor(h).rows / map.area());
  a.kv = {layer.stack.heads, layer.stack.head_dim, a.batch, a.keys, RowLayout::batch, a.keys};
  a.scale = attention_scale(layer.stack);
  a.bias.form = BiasForm::map;
  a.map = map;
  ops::AttentionOperands reads;
  reads.kv = kv_activation(b, label + ".kv", a.kv);
  reads.q = ops::linear_kv(b.g(), label + ".qkv", h, b.weight(layer.w.qkv), {layer.stack.inner(), reads.kv, a.kv});
  reads.bias = b.weight(layer.w.relative_bias);
  const auto context = ops::attention(b.g(), label + ".attention", reads, a, false).context;
  const auto back = ops::windows(b.g(), label + ".back", context, {map, 1, 0});
  return add_result(b, label, layer, back, in.x);
}

graph::TensorId cross_attention(Builder& b, const std::string& label, const AttentionLayer& layer, const Sublayer& in,
                                const SequenceAttention& how) {
  const auto q = ops::linear(b.g(), label + ".q", in.h, b.weight(layer.w.qkv), layer.stack.inner());
  const KvShape shape = sequence_kv(layer.stack, how, how.keys);
  const auto r = attend(b, label, layer, {q, in.kv, shape, in.x}, how);
  keep_weights(b, how, r);
  return add_result(b, label, layer, r.context, in.x);
}

void cross_keys_values(Builder& b, const std::string& label, const AttentionLayer& layer, graph::TensorId memory,
                       const ops::KvTarget& to) {
  ops::linear_kv(b.g(), label + ".kv", memory, b.weight(layer.w.kv), to);
  if (layer.w.head_norms == kNoWeight) return;
  const graph::Tensor& rows = b.g().tensor(memory);
  const NormKeysAttributes how{to.shape, static_cast<uint32_t>(rows.rows), rows.live_rows, layer.stack.norm_epsilon};
  ops::norm_keys(b.g(), label + ".norm", {to.kv, b.weight(layer.w.head_norms), to.step_or_spans}, how);
}

namespace {

// Turns the queries of a recurrent decoder into rows with the scores of distances.
graph::TensorId add_distance_scores(Builder& b, const std::string& label, const AttentionLayer& layer,
                                    graph::TensorId q, const StepAttention& how, AttentionStepAttributes& a) {
  const StackConfig& s = layer.stack;
  const DistanceScoresAttributes d{
      s.heads, s.head_dim, layer.w.distance_count, s.memory, s.same_length, how.prompt ? 1u : 0u, how.beams, a.scale};
  a.bias.form = BiasForm::rows;
  a.bias.low = layer.w.distance_low;
  a.bias.count = a.bias.buckets = layer.w.distance_count;
  a.bias.column = d.column();
  a.sink_column = d.sink_column();
  return ops::distance_scores(b.g(), label + ".distances", {q, b.weight(layer.w.lines), how.state.step, how.search}, d);
}

}  // namespace

namespace {

struct AttendedStep {
  graph::TensorId q, context;
};

graph::TensorId step_with_reach(Builder& b, const std::string& label, const AttentionLayer& layer, graph::TensorId q,
                                graph::TensorId kv, const StepAttention& how) {
  ShawAttentionAttributes a;
  a.kv = how.self;
  a.reach = layer.stack.reach;
  a.scale = attention_scale(layer.stack);
  a.rows = ShawRows::step;
  a.beams = how.beams;
  a.lineage_beam_slots = how.lineage_beam_slots;
  a.lineage_positions = how.lineage_positions;
  return ops::shaw_attention(b.g(), label + ".attention",
                             {q, kv, b.weight(layer.w.distance_table), how.state.step, how.state.lineage}, a);
}

AttendedStep attend_to_cache(Builder& b, const std::string& label, const AttentionLayer& layer, const Sublayer& in,
                             const StepAttention& how) {
  auto q = own_projections(b, label, layer, in, {layer.stack.query_columns(), in.kv, how.self, how.state.step});
  if (layer.stack.reach) return {q, step_with_reach(b, label, layer, q, in.kv, how)};
  rotate_self(b, label, layer, {q, in.kv, graph::kNone, how.state.step}, {how.self, layer.stack.rotary_pairs()});
  AttentionStepAttributes a;
  a.kv = how.self;
  a.self = 1;
  a.beams = how.beams;
  a.prompt = how.prompt ? 1 : 0;
  a.lineage_beam_slots = how.lineage_beam_slots;
  a.lineage_positions = how.lineage_positions;
  a.longest = layer.stack.max_positions;
  if (how.window != kNoWindow) a.longest = std::min(a.longest ? a.longest : kNoWindow, how.window + kMostPromptRows);
  a.scale = attention_scale(layer.stack);
  a.cap = layer.stack.score_cap;
  ops::StepTensors state = how.state;
  state.lengths = graph::kNone;
  if (how.window == kNoWindow) {
    a.bias = relative_bias(layer);
    state.distances = weight_or_none(b, layer.w.distances);
    state.bias = weight_or_none(b, layer.w.relative_bias);
  } else if (how.window < how.self.positions) {
    a.window = how.window;
  }
  if (layer.w.lines != kNoWeight) {
    q = add_distance_scores(b, label, layer, q, how, a);
    state.distances = b.weight(layer.w.distances);
  }
  const bool merged = layer.stack.merged_attention;
  return {q, ops::attention_step(b.g(), label + ".attention", {q, in.kv, state, merged}, a)};
}

graph::TensorId attend_to_source(Builder& b, const std::string& label, const AttentionLayer& layer, graph::TensorId q,
                                 graph::TensorId kv, const StepAttention& how) {
  AttentionStepAttributes a;
  a.kv = how.cross;
  a.self = 0;
  a.beams = how.beams;
  a.lineage_beam_slots = how.lineage_beam_slots;
  a.lineage_positions = how.lineage_positions;
  a.scale = attention_scale(layer.stack);
  a.cap = layer.stack.score_cap;
  ops::StepTensors state = how.state;
  state.lineage = graph::kNone;
  return ops::attention_step(b.g(), label + ".attention", {q, kv, state, layer.stack.merged_attention}, a);
}

}  // namespace

graph::TensorId self_attention_step(Builder& b, const std::string& label, const AttentionLayer& layer,
                                    const Sublayer& in, const StepAttention& how) {
  return add_result(b, label, layer, attend_to_cache(b, label, layer, in, how).context, in.x);
}

graph::TensorId cross_attention_step(Builder& b, const std::string& label, const AttentionLayer& layer,
                                     const Sublayer& in, const StepAttention& how) {
  const auto q = ops::linear(b.g(), label + ".q", in.h, b.weight(layer.w.qkv), layer.stack.inner());
  return add_result(b, label, layer, attend_to_source(b, label, layer, q, in.kv, how), in.x);
}

graph::TensorId merged_attention_step(Builder& b, const std::string& label, const MergedLayer& layer,
                                      const Sublayer& in, graph::TensorId source_kv, const StepAttention& how) {
  const auto [q, own] = attend_to_cache(b, label, layer.own, in, how);
  const auto source = attend_to_source(b, label + ".source", layer.source, q, source_kv, how);
  const auto context = ops::join_contexts(b.g(), label + ".join", own, source, how.cross);
  return add_result(b, label, layer.own, context, in.x);
}

}  // namespace lapilli::model
