#include "model/blocks/attention_block.hpp"

namespace lapilli::model {

namespace {

KvShape sequence_kv(const Builder& b, const SequenceAttention& how, uint32_t positions) {
  KvShape kv;
  kv.heads = how.heads;
  kv.head_dim = b.config().d_model / how.heads;
  kv.slots = how.batch;
  kv.positions = positions;
  kv.place = Place::batch;
  kv.rows_per_slot = positions;
  return kv;
}

graph::TensorId attend(Builder& b, const std::string& label, const AttentionWeights& w, graph::TensorId q,
                       graph::TensorId x, graph::TensorId kv, const KvShape& shape, const SequenceAttention& how) {
  AttentionAttributes a;
  a.batch = how.batch;
  a.queries = how.queries;
  a.keys = how.keys;
  a.kv = shape;
  a.causal = how.causal ? 1 : 0;
  a.scale = attention_scale(shape.head_dim);
  const auto r = ops::attention(b.g(), label + ".attention", q, kv, how.lengths, a, !how.keep_weights.empty());
  if (!how.keep_weights.empty()) b.keep(how.keep_weights, r.weights);
  return ops::linear_add(b.g(), label + ".out", r.context, b.weight(w.out), x);
}

}  // namespace

graph::TensorId kv_activation(Builder& b, const std::string& label, const KvShape& shape) {
  graph::Tensor t;
  t.name = label;
  t.rows = uint64_t{shape.heads} * shape.slots * shape.positions;
  t.cols = t.ld = 2 * shape.head_dim;
  return b.g().add_tensor(std::move(t));
}

graph::TensorId self_attention(Builder& b, const std::string& label, const AttentionWeights& w, graph::TensorId h,
                               graph::TensorId x, const SequenceAttention& how) {
  const KvShape shape = sequence_kv(b, how, how.queries);
  const auto kv = kv_activation(b, label + ".kv", shape);
  const auto q = ops::linear_kv(b.g(), label + ".qkv", h, b.weight(w.qkv), b.config().d_model, kv, shape);
  return attend(b, label, w, q, x, kv, shape, how);
}

graph::TensorId cross_attention(Builder& b, const std::string& label, const AttentionWeights& w, graph::TensorId h,
                                graph::TensorId x, graph::TensorId kv, const SequenceAttention& how) {
  const auto q = ops::linear(b.g(), label + ".q", h, b.weight(w.qkv), b.config().d_model);
  return attend(b, label, w, q, x, kv, sequence_kv(b, how, how.keys), how);
}

void cross_keys_values(Builder& b, const std::string& label, const AttentionWeights& w, graph::TensorId memory,
                       graph::TensorId kv, const KvShape& shape) {
  ops::linear_kv(b.g(), label + ".kv", memory, b.weight(w.kv), 0, kv, shape);
}

graph::TensorId self_attention_step(Builder& b, const std::string& label, const AttentionWeights& w, graph::TensorId h,
                                    graph::TensorId x, graph::TensorId kv, const StepAttention& how) {
  const auto q =
      ops::linear_kv(b.g(), label + ".qkv", h, b.weight(w.qkv), b.config().d_model, kv, how.self, how.state.step);
  AttentionStepAttributes a;
  a.kv = how.self;
  a.self = 1;
  a.beams = how.beams;
  a.lineage_slots = how.lineage_slots;
  a.lineage_positions = how.lineage_positions;
  a.scale = attention_scale(how.self.head_dim);
  ops::StepTensors state = how.state;
  state.lengths = graph::kNone;
  const auto context = ops::attention_step(b.g(), label + ".attention", q, kv, state, a);
  return ops::linear_add(b.g(), label + ".out", context, b.weight(w.out), x, true);
}

graph::TensorId cross_attention_step(Builder& b, const std::string& label, const AttentionWeights& w, graph::TensorId h,
                                     graph::TensorId x, graph::TensorId kv, const StepAttention& how) {
  const auto q = ops::linear(b.g(), label + ".q", h, b.weight(w.qkv), b.config().d_model, {Activation::none, true});
  AttentionStepAttributes a;
  a.kv = how.cross;
  a.self = 0;
  a.lineage_slots = how.lineage_slots;
  a.lineage_positions = how.lineage_positions;
  a.scale = attention_scale(how.cross.head_dim);
  ops::StepTensors state = how.state;
  state.lineage = graph::kNone;
  const auto context = ops::attention_step(b.g(), label + ".attention", q, kv, state, a);
  return ops::linear_add(b.g(), label + ".out", context, b.weight(w.out), x, true);
}

}  // namespace lapilli::model
