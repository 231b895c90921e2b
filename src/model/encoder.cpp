#include "model/encoder.hpp"

#include "model/blocks/attention_block.hpp"
#include "model/blocks/feed_forward.hpp"
#include "ops/state.hpp"

namespace lapilli::model {

namespace {
graph::TensorId norm_op(Builder& b, const std::string& label, WeightIndex norm, graph::TensorId x, bool live_rows) {
  return ops::layer_norm(b.g(), label, x, b.weight(norm), {b.config().norm_epsilon, live_rows ? 1u : 0u});
}
}  // namespace

graph::TensorId after_sublayer(Builder& b, const std::string& label, WeightIndex norm, graph::TensorId x,
                               bool live_rows) {
  return b.config().pre_norm ? x : norm_op(b, label, norm, x, live_rows);
}

graph::TensorId before_sublayer(Builder& b, const std::string& label, WeightIndex norm, graph::TensorId x,
                                bool live_rows) {
  return b.config().pre_norm ? norm_op(b, label, norm, x, live_rows) : x;
}

graph::TensorId build_encoder(Builder& b, const EncoderRun& run) {
  const Config& c = b.config();
  const StackWeights& w = b.network().encoder;
  const auto ids = b.state(state_id(StateKind::source_ids), "source_ids", run.batch, run.length);
  const auto lengths = b.state(state_id(StateKind::lengths), "lengths", 1, 2 * kMaxRows);

  EmbedAttributes e;
  e.vocabulary = c.source_vocabulary;
  e.d = c.d_model;
  e.scale = c.embedding_scale;
  e.place = Place::batch;
  e.rows_per_slot = run.length;
  e.position_offset = c.position_offset;
  const auto positions = c.positions == Positions::none ? graph::kNone : b.weight(w.positions);
  auto x = ops::embed(b.g(), "encoder.embed", ids, b.weight(w.embedding), positions, graph::kNone,
                      uint64_t{run.batch} * run.length, e);
  if (c.embedding_norm)
    x = ops::layer_norm(b.g(), "encoder.embed_norm", x, b.weight(w.embedding_norm), {c.norm_epsilon, 0});
  if (run.keep_hidden_states) b.keep_copy("encoder_hidden_states.0", x);

  SequenceAttention how;
  how.batch = run.batch;
  how.queries = how.keys = run.length;
  how.heads = c.encoder.heads;
  how.lengths = lengths;
  for (uint32_t i = 0; i < c.encoder.layers; ++i) {
    const LayerWeights& layer = w.layers[i];
    const std::string label = format("encoder.%u", i);
    how.keep_weights = run.keep_attentions ? format("encoder_attentions.%u", i) : "";
    x = self_attention(b, label + ".self", layer.self,
                       before_sublayer(b, label + ".self.norm", layer.self.norm, x, false), x, how);
    x = after_sublayer(b, label + ".self.norm", layer.self.norm, x, false);
    x = feed_forward(b, label, layer, c.encoder.ffn, before_sublayer(b, label + ".norm", layer.norm, x, false), x,
                     false);
    x = after_sublayer(b, label + ".norm", layer.norm, x, false);
    const bool last = i + 1 == c.encoder.layers;
    if (last && c.final_norm)
      x = ops::layer_norm(b.g(), "encoder.norm", x, b.weight(w.final_norm), {c.norm_epsilon, 0});
    if (run.keep_hidden_states) b.keep_copy(format("encoder_hidden_states.%u", i + 1), x);
  }
  return x;
}

}  // namespace lapilli::model
