#include "model/blocks/stream_attention.hpp"

#include <cmath>

#include "ops/attention/stream_attention.hpp"

namespace lapilli::model {

namespace {

// Columns of the projection: queries, the bias of each bucket and head, then keys and values by head. One matrix serves
// all streams: the main stream's keys and values go to the cache, a predicting stream's stay in its rows.
RelativeBias bias_in_rows(const AttentionLayer& layer) {
  RelativeBias bias;
  bias.form = BiasForm::rows;
  bias.low = layer.w.distance_low;
  bias.count = layer.w.distance_count;
  bias.buckets = layer.stack.relative_buckets;
  bias.column = layer.stack.inner();
  return bias;
}

uint32_t own_column(const StackConfig& s) { return s.inner() + s.relative_buckets * s.heads; }

float scale(const StackConfig& s) { return 1.0f / std::sqrt(static_cast<float>(s.head_dim)); }

KvShape kv_shape(const StackConfig& s, const StreamRun& run) {
  if (run.step) return run.step->self;
  KvShape kv;
  kv.heads = s.heads;
  kv.head_dim = s.head_dim;
  kv.slots = run.sequence->batch;
  kv.positions = kv.rows_per_slot = run.sequence->queries;
  return kv;
}

graph::TensorId main_context(Builder& b, const std::string& label, const AttentionLayer& layer, graph::TensorId q,
                             const StreamRun& how) {
  const KvShape shape = kv_shape(layer.stack, how);
  if (how.step) {
    AttentionStepAttributes a;
    a.kv = shape;
    a.beams = how.step->beams;
    a.lineage_beam_slots = how.step->lineage_beam_slots;
    a.lineage_positions = how.step->lineage_positions;
    a.scale = scale(layer.stack);
    a.bias = bias_in_rows(layer);
    ops::StepTensors state = how.step->state;
    state.lengths = graph::kNone;
    state.distances = b.weight(layer.w.distances);
    return ops::attention_step(b.g(), label, {q, how.kv, state}, a);
  }
  AttentionAttributes a;
  a.batch = how.sequence->batch;
  a.queries = a.keys = how.sequence->queries;
  a.kv = shape;
  a.causal = 1;
  a.scale = scale(layer.stack);
  a.bias = bias_in_rows(layer);
  ops::AttentionOperands reads{q, how.kv, how.sequence->lengths};
  reads.distances = b.weight(layer.w.distances);
  const bool keep = !how.sequence->keep_weights.empty();
  const auto r = ops::attention(b.g(), label, reads, a, keep);
  if (keep) b.keep(how.sequence->keep_weights, r.weights);
  return r.context;
}

graph::TensorId predicting_context(Builder& b, const std::string& label, const AttentionLayer& layer,
                                   const ops::StreamTensors& tensors, StreamAttentionAttributes a) {
  a.bias = bias_in_rows(layer);
  a.own_column = own_column(layer.stack);
  a.scale = scale(layer.stack);
  return ops::stream_attention(b.g(), label, tensors, a);
}

}  // namespace

Streams stream_attention(Builder& b, const std::string& label, const AttentionLayer& layer, const Streams& x,
                         const StreamRun& given) {
  const StackConfig& s = layer.stack;
  const bool step = given.step != nullptr;
  const KvShape shape = kv_shape(s, given);
  StreamRun how = given;
  if (!step) how.kv = kv_activation(b, label + ".kv", shape);
  const auto weight = b.weight(layer.w.qkv);
  const auto q = ops::linear_kv(b.g(), label + ".qkv", x.main, weight,
                                {own_column(s), how.kv, shape, step ? how.step->state.step : graph::kNone});

  Streams out;
  if (how.keep_main) {
    const auto context = main_context(b, label + ".attention", layer, q, how);
    out.main = ops::linear_add(b.g(), label + ".out", context, b.weight(layer.w.out), x.main);
  }
  StreamAttentionAttributes a;
  ops::StreamTensors tensors;
  a.kv = shape;
  tensors.kv = how.kv;
  tensors.distances = b.weight(layer.w.distances);
  if (step) {
    a.step = 1;
    a.beams = how.step->beams;
    a.lineage_beam_slots = how.step->lineage_beam_slots;
    a.lineage_positions = how.step->lineage_positions;
    tensors.step = how.step->state.step;
    tensors.lineage = how.step->state.lineage;
  } else {
    a.batch = how.sequence->batch;
    a.queries = how.sequence->queries;
    tensors.lengths = how.sequence->lengths;
  }
  for (uint32_t i = 0; i < x.predicting.size(); ++i) {
    const std::string name = label + format(".stream%u", i);
    a.stream = i;
    tensors.q = ops::linear(b.g(), name + ".qkv", x.predicting[i], weight, own_column(s) + 2 * s.inner());
    const auto context = predicting_context(b, name + ".attention", layer, tensors, a);
    out.predicting.push_back(ops::linear_add(b.g(), name + ".out", context, b.weight(layer.w.out), x.predicting[i]));
  }
  return out;
}

}  // namespace lapilli::model
