#include "model/encoder.hpp"

#include "model/blocks/attention_block.hpp"
#include "model/blocks/beside_layers.hpp"
#include "model/blocks/encoder_input.hpp"
#include "model/blocks/feed_forward.hpp"
#include "model/blocks/memory.hpp"
#include "model/blocks/norm.hpp"
#include "ops/core/state.hpp"

namespace lapilli::model {

namespace {

// Concatenates four neighbours, with zeros outside the map, and halves the width.
graph::TensorId merge_neighbours(Builder& b, const std::string& label, const StageConfig& s, const StageWeights& w,
                                 graph::TensorId x) {
  const auto four = ops::windows(b.g(), label + ".neighbours", x, {{s.height, s.width, 2, 0}, 0, 1});
  const auto h = ops::layer_norm(b.g(), label + ".merge.norm", four, b.weight(w.merge_norm), {});
  return ops::linear(b.g(), label + ".merge", h, b.weight(w.merge), 2 * s.stack.d_model);
}

graph::TensorId stage_layers(Builder& b, const std::string& label, const StageConfig& s, const StackWeights& w,
                             graph::TensorId x) {
  for (uint32_t i = 0; i < s.stack.layers; ++i) {
    const LayerWeights& layer = w.layers[i];
    const std::string name = label + format(".%u", i);
    auto h = normalize(b, name + ".self.norm", {s.stack, layer.self.norm}, x);
    x = map_attention(b, name + ".self", {s.stack, layer.self}, {h, x}, {s.height, s.width, s.side, s.shift(i)});
    h = normalize(b, name + ".norm", {s.stack, layer.norm}, x);
    x = feed_forward(b, name, s.stack, layer, {h, x});
  }
  return x;
}

// Stages work on whole pictures, so rows of a pass become live only after the last one.
graph::TensorId build_stages(Builder& b, const SourceRows& source, const EncoderRun& run) {
  const Config& c = b.config();
  auto x = feature_layers(b, source);
  const WeightIndex norm = b.network().encoder.embedding_norm;
  if (norm != kNoWeight) x = ops::layer_norm(b.g(), "encoder.embedding_norm", x, b.weight(norm), {});
  if (run.keep_hidden_states) b.keep_copy("encoder_hidden_states.0", x);
  for (size_t i = 0; i < c.stages.size(); ++i) {
    const std::string label = format("encoder.%u", i);
    const StageWeights& w = b.network().stages[i];
    x = stage_layers(b, label, c.stages[i], w.stack, x);
    if (c.stages[i].merges) x = merge_neighbours(b, label, c.stages[i], w, x);
    if (run.keep_hidden_states) b.keep_copy(format("encoder_hidden_states.%u", i + 1), x);
  }
  return rows_of_stages(b, source, x);
}

// The part of a layer behind its attention.
graph::TensorId behind_attention(Builder& b, const std::string& label, const LayerWeights& layer, graph::TensorId x) {
  const StackConfig& s = b.config().encoder;
  x = after_sublayer(b, label + ".self.norm", {s, layer.self.norm}, x);
  const auto h = before_sublayer(b, label + ".norm", {s, layer.norm}, x);
  x = feed_forward(b, label, s, layer, {h, x});
  return after_sublayer(b, label + ".norm", {s, layer.norm}, x);
}

// Both streams behind a layer.
TwoStreams stream_layer(Builder& b, const std::string& label, const LayerWeights& layer, TwoStreams x,
                        const SequenceAttention& how) {
  x = two_stream_attention(b, label + ".self", {b.config().encoder, layer.self}, x, how);
  return {behind_attention(b, label, layer, x.first), behind_attention(b, label + ".second", layer, x.second)};
}

graph::TensorId key_masks(Builder& b, const EncoderRun& run) {
  const uint64_t words = mask_words(run.length), rows = uint64_t{run.batch} * run.length * (run.two_streams ? 2 : 1);
  return b.state(state_id(StateKind::key_masks), "key_masks", 1, rows * words + kBiasWords);
}

}  // namespace

graph::TensorId spans_state(Builder& b) {
  return b.state(state_id(StateKind::spans), "spans", state::MAX_ROWS, state::SPAN_STRIDE);
}

void encode_grids(Builder& b) {
  b.state(state_id(StateKind::encode_grids), "encode_grids", state::MAX_GRIDS, state::GRID_STRIDE);
}

graph::TensorId build_encoder(Builder& b, const EncoderRun& run) {
  const Config& c = b.config();
  const StackConfig& s = c.encoder;
  const StackWeights& w = b.network().encoder;
  const bool packed = run.rows != 0;
  SequenceAttention how;
  how.batch = run.batch;
  how.queries = packed ? run.rows : run.length;
  how.keys = run.length + run.memory_rows;
  how.causal = s.causal;
  if (packed)
    how.spans = spans_state(b);
  else
    how.lengths = b.state(state_id(StateKind::lengths), "lengths", 1, 2 * state::MAX_ROWS);

  if (!c.stages.empty()) return build_stages(b, {run.batch, run.length, run.rows, how.spans, run.features}, run);
  const SourceRows source{run.batch, run.length, run.rows, how.spans, run.features};
  auto x = encoder_input(b, source);
  if (run.keep_hidden_states) b.keep_copy("encoder_hidden_states.0", x);
  how.distances = distance_rows(b, how.keys);
  if (s.segments) how.segments = segment_rows(b, source);
  if (run.masked) how.mask = key_masks(b, run);
  auto second = run.two_streams ? second_stream_rows(b, source) : graph::kNone;
  const auto convolved = s.convolution ? convolve_embeddings(b, x, spans_state(b)) : graph::kNone;

  if (!s.windows.empty())
    how.globals = b.state(state_id(StateKind::globals), "globals", run.batch, s.globals_stride(run.length));
  for (uint32_t i = 0; i < s.layers; ++i) {
    const LayerWeights& layer = w.layers[i];
    const std::string label = format("encoder.%u", i);
    how.window = s.window(i);
    how.window_after = s.windows_after.empty() ? how.window : s.windows_after[i];
    const bool kept = how.window == kNoWindow || layer.self.relative_bias != kNoWeight;
    how.keep_weights = run.keep_attentions && kept ? format("encoder_attentions.%u", i) : "";
    how.memory = memory_of_layer(b, label, {s, layer.self.norm}, {run.batch, run.memory_rows, i});
    if (second == graph::kNone) {
      const auto h = before_sublayer(b, label + ".self.norm", {s, layer.self.norm}, x);
      x = self_attention(b, label + ".self", {s, layer.self}, {h, x}, how);
      x = behind_attention(b, label, layer, x);
    } else {
      const TwoStreams both = stream_layer(b, label, layer, {x, second}, how);
      x = both.first;
      second = both.second;
    }
    if (i == 0) x = add_convolution(b, x, convolved);
    const bool norm = i + 1 == s.layers && s.final_norm, after = norm && s.states_before_final_norm;
    if (norm && !after) x = normalize(b, "encoder.norm", {s, w.final_norm}, x);
    if (run.keep_hidden_states) b.keep_copy(format("encoder_hidden_states.%u", i + 1), x);
    if (after) x = normalize(b, "encoder.norm", {s, w.final_norm}, x);
  }
  return second == graph::kNone ? x : second;
}

graph::TensorId project_memory(Builder& b, graph::TensorId memory) {
  const Network& n = b.network();
  if (!n.config.memory_projection) return memory;
  return ops::linear(b.g(), "memory_projection", memory, b.weight(n.memory_projection), n.config.decoder.d_model);
}

}  // namespace lapilli::model
