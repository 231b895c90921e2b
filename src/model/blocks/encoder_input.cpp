#include "model/blocks/encoder_input.hpp"

#include <algorithm>

#include "model/blocks/embedding.hpp"
#include "model/features.hpp"
#include "ops/core/state.hpp"
#include "ops/products/embed.hpp"
#include "ops/rows/basic.hpp"

namespace lapilli::model {

namespace {

// A word for each row of the sources.
graph::TensorId row_words(Builder& b, StateKind kind, const char* name, const SourceRows& source) {
  const bool packed = source.packed_rows != 0;
  return b.state(state_id(kind), name, packed ? 1 : source.batch, packed ? source.packed_rows : source.length);
}

uint64_t all_rows(const SourceRows& source) {
  return source.packed_rows ? source.packed_rows : uint64_t{source.batch} * source.length;
}

EmbedAttributes source_attributes(Builder& b, const SourceRows& source, uint32_t vocabulary) {
  EmbedAttributes e = embed_attributes(b.config().encoder, vocabulary);
  e.rows_per_slot = source.length;
  if (source.packed_rows) e.layout = RowLayout::spans;
  return e;
}

graph::TensorId embedded_ids(Builder& b, const SourceRows& source) {
  const StackConfig& s = b.config().encoder;
  IdRows rows;
  rows.ids = row_words(b, StateKind::source_ids, "source_ids", source);
  rows.step_or_spans = source.spans;
  rows.rows = all_rows(source);
  if (s.row_types && !s.segments) rows.types = row_words(b, StateKind::source_types, "source_types", source);
  return embed_rows(b, "encoder", rows, source_attributes(b, source, b.config().source_vocabulary));
}

// Rows of each level in the graph.
std::vector<uint64_t> rows_of_levels(const FeatureInput& input, const SourceRows& source) {
  if (source.packed_rows != 0) return level_room(input, source.packed_rows, std::min(source.batch, source.packed_rows));
  std::vector<uint64_t> rows;
  for (const uint32_t one : level_rows(input, source.features)) rows.push_back(uint64_t{source.batch} * one);
  return rows;
}

graph::TensorId feature_state(Builder& b, uint64_t rows) {
  const FeatureInput& input = b.config().features;
  const auto x = b.state(state_id(StateKind::features), "features", rows, input.width, graph::DType::f32);
  b.g().tensor(x).ld = feature_stride(input);
  return x;
}

bool is_linear(const InputLayer& layer) {
  return layer.kernel == 1 && layer.stride == 1 && layer.before == 0 && layer.after == 0;
}

graph::TensorId feature_spans(Builder& b) {
  return b.state(state_id(StateKind::feature_spans), "feature_spans", feature_levels(b.config().features),
                 state::SPAN_WORDS);
}

// Spans of a level's sources, and their maximal number.
struct LevelSpans {
  graph::TensorId spans = graph::kNone;
  uint32_t level = 0, sources = 0;
};

// A layer after the unfolding into windows.
graph::TensorId layer_rows(Builder& b, const std::string& label, uint32_t i, graph::TensorId x, const LevelSpans& at) {
  const InputLayer& layer = b.config().features.layers[i];
  const StackWeights& w = b.network().encoder;
  if (layer.gated) {
    const auto columns = static_cast<uint32_t>(gate_value_column(layer.columns)) + layer.columns;
    x = ops::linear(b.g(), label, x, b.weight(w.input[i]), columns);
    x = ops::gate(b.g(), label + ".gate", x, layer.columns, layer.activation);
  } else {
    x = ops::linear(b.g(), label, x, b.weight(w.input[i]), {layer.columns, layer.activation});
  }
  if (!layer.group_norm) return x;
  GroupNormAttributes norm;
  norm.level = at.level;
  norm.sentences = at.sources;
  return ops::group_norm(b.g(), label + ".norm", {x, at.spans, b.weight(w.input_norms[i])}, norm);
}

// Turns `x`, the rows of a level, into the encoder's rows.
graph::TensorId encoder_rows(Builder& b, const SourceRows& source, graph::TensorId x, uint32_t level) {
  const FeatureInput& input = b.config().features;
  const StackConfig& s = b.config().encoder;
  const WeightIndex table = b.network().encoder.positions;
  UnfoldAttributes places{1, 1, input.front, level, feature_levels(input) - 1, s.position_offset, s.embedding_scale};
  const auto positions = table == kNoWeight ? graph::kNone : b.weight(table);
  const bool packed = source.packed_rows != 0;
  return ops::unfold(b.g(), "encoder.positions",
                     {x, feature_spans(b), positions, rows_of_levels(input, source).back(), packed}, places);
}

}  // namespace

// Computes convolutions as products over windows of rows. Only the encoder's rows of a pass follow its live count; the
// levels before it have other numbers of rows.
graph::TensorId feature_layers(Builder& b, const SourceRows& source) {
  const FeatureInput& input = b.config().features;
  const auto rows = rows_of_levels(input, source);
  const auto spans = feature_spans(b);
  const uint32_t sources = std::min<uint32_t>(source.batch, state::MAX_ROWS);
  auto x = feature_state(b, rows[0]);
  for (uint32_t i = 0; i < input.layers.size(); ++i) {
    const InputLayer& layer = input.layers[i];
    const std::string label = format("encoder.input.%u", i);
    if (!is_linear(layer))
      x = ops::unfold(b.g(), label + ".unfold", {x, spans, graph::kNone, rows[i + 1], false},
                      {layer.kernel, layer.stride, layer.before, i, i + 1});
    x = layer_rows(b, label, i, x, {spans, i + 1, sources});
  }
  return x;
}

graph::TensorId rows_of_stages(Builder& b, const SourceRows& source, graph::TensorId x) {
  return encoder_rows(b, source, x, feature_levels(b.config().features) - 1);
}

namespace {

// A row of a table for each row of the sources, by its type.
graph::TensorId rows_by_type(Builder& b, const std::string& label, const SourceRows& source, WeightIndex table,
                             uint32_t columns) {
  EmbedAttributes e = source_attributes(b, source, b.config().encoder.row_types);
  e.d = columns;
  e.scale = 1;
  e.uncounted_id = kNoPositionId;
  const auto types = row_words(b, StateKind::source_types, "source_types", source);
  return ops::embed(b.g(), label, {types, b.weight(table), graph::kNone, source.spans, all_rows(source)}, e);
}

}  // namespace

graph::TensorId segment_rows(Builder& b, const SourceRows& source) {
  const StackWeights& w = b.network().encoder;
  return rows_by_type(b, "encoder.segments", source, w.segment_types, b.config().encoder.query_columns());
}

graph::TensorId second_stream_rows(Builder& b, const SourceRows& source) {
  const StackWeights& w = b.network().encoder;
  return rows_by_type(b, "encoder.second", source, w.second_stream, b.config().encoder.d_model);
}

graph::TensorId encoder_input(Builder& b, const SourceRows& source) {
  return b.config().kind().reads == Reads::ids
             ? embedded_ids(b, source)
             : encoder_rows(b, source, feature_layers(b, source), feature_levels(b.config().features) - 2);
}

}  // namespace lapilli::model
