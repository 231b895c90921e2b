#include "model/encoder.hpp"

#include "model/blocks/attention_block.hpp"
#include "model/blocks/encoder_input.hpp"
#include "model/blocks/feed_forward.hpp"
#include "model/blocks/norm.hpp"
#include "ops/state.hpp"

namespace lapilli::model {

graph::TensorId build_encoder(Builder& b, const EncoderRun& run) {
  const Config& c = b.config();
  const StackConfig& s = c.encoder;
  const StackWeights& w = b.network().encoder;
  const bool packed = run.rows != 0;
  SequenceAttention how;
  how.batch = run.batch;
  how.queries = packed ? run.rows : run.length;
  how.keys = run.length;
  if (packed)
    how.spans = b.state(state_id(StateKind::spans), "spans", kMaxRows, SpanWords::stride);
  else
    how.lengths = b.state(state_id(StateKind::lengths), "lengths", 1, 2 * kMaxRows);

  auto x = encoder_input(b, {run.batch, run.length, run.rows, how.spans, run.features});
  if (run.keep_hidden_states) b.keep_copy("encoder_hidden_states.0", x);

  if (!s.windows.empty())
    how.globals = b.state(state_id(StateKind::globals), "globals", run.batch, uint64_t{run.length} + 1);
  for (uint32_t i = 0; i < s.layers; ++i) {
    const LayerWeights& layer = w.layers[i];
    const std::string label = format("encoder.%u", i);
    how.keep_weights = run.keep_attentions && s.windows.empty() ? format("encoder_attentions.%u", i) : "";
    if (!s.windows.empty()) how.window = s.windows[i];
    auto h = before_sublayer(b, label + ".self.norm", {s, layer.self.norm}, x);
    x = self_attention(b, label + ".self", {s, layer.self}, {h, x}, how);
    x = after_sublayer(b, label + ".self.norm", {s, layer.self.norm}, x);
    h = before_sublayer(b, label + ".norm", {s, layer.norm}, x);
    x = feed_forward(b, label, s, layer, {h, x});
    x = after_sublayer(b, label + ".norm", {s, layer.norm}, x);
    const bool norm = i + 1 == s.layers && s.final_norm, after = norm && s.states_before_final_norm;
    if (norm && !after) x = normalize(b, "encoder.norm", {s, w.final_norm}, x);
    if (run.keep_hidden_states) b.keep_copy(format("encoder_hidden_states.%u", i + 1), x);
    if (after) x = normalize(b, "encoder.norm", {s, w.final_norm}, x);
  }
  return x;
}

graph::TensorId project_memory(Builder& b, graph::TensorId memory) {
  const Network& n = b.network();
  if (!n.config.memory_projection) return memory;
  return ops::linear(b.g(), "memory_projection", memory, b.weight(n.memory_projection), n.config.decoder.d_model);
}

}  // namespace lapilli::model
