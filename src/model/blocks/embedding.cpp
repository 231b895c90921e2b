#include "model/blocks/embedding.hpp"

#include "model/blocks/clusters.hpp"
#include "model/blocks/norm.hpp"

namespace lapilli::model {

EmbedAttributes embed_attributes(const StackConfig& stack, uint32_t vocabulary) {
  EmbedAttributes e;
  e.vocabulary = vocabulary;
  e.d = stack.embedding_columns();
  e.scale = stack.embedding_scale;
  e.position_offset = stack.position_offset;
  e.uncounted_id = stack.uncounted_id;
  return e;
}

namespace {

// Positions alone, as wide as the network: a scale of 0 drops what the table has, which is any of their width.
graph::TensorId wide_positions(Builder& b, const std::string& side, const IdRows& rows, EmbedAttributes attributes) {
  const bool encoder = side == "encoder";
  const StackConfig& s = encoder ? b.config().encoder : b.config().decoder;
  const StackWeights& w = encoder ? b.network().encoder : b.network().decoder;
  attributes.vocabulary = s.ffn;
  attributes.d = s.d_model;
  attributes.scale = 0;
  return ops::embed(b.g(), side + ".positions",
                    {rows.ids, b.weight(w.layers[0].fc1), b.weight(w.positions), rows.step_or_spans, rows.rows},
                    attributes);
}

// Adds the embedding of each row's type.
graph::TensorId add_types(Builder& b, const IdRows& rows, EmbedAttributes attributes, graph::TensorId x) {
  attributes.vocabulary = b.config().encoder.row_types;
  attributes.scale = 1;
  attributes.uncounted_id = kNoPositionId;
  const auto table = b.weight(b.network().encoder.row_types);
  const auto types =
      ops::embed(b.g(), "encoder.types", {rows.types, table, graph::kNone, rows.step_or_spans, rows.rows}, attributes);
  return ops::add(b.g(), "encoder.types.add", x, types);
}

}  // namespace

graph::TensorId embed_rows(Builder& b, const std::string& side, const IdRows& rows, const EmbedAttributes& attributes) {
  const bool encoder = side == "encoder";
  if (!encoder && !b.config().clusters.empty()) return embed_clusters(b, rows, attributes);
  const StackConfig& s = encoder ? b.config().encoder : b.config().decoder;
  const StackWeights& w = encoder ? b.network().encoder : b.network().decoder;
  const bool wide = s.wide_positions;
  const auto positions = w.positions == kNoWeight || wide ? graph::kNone : b.weight(w.positions);
  const auto table = b.weight(w.embedding);
  if (s.embedding_norm_first && positions != graph::kNone) {
    auto x =
        ops::embed(b.g(), side + ".embed", {rows.ids, table, graph::kNone, rows.step_or_spans, rows.rows}, attributes);
    x = normalize(b, side + ".embed_norm", {s, w.embedding_norm}, x);
    // Positions alone: a scale of 0 drops the embedding.
    EmbedAttributes places = attributes;
    places.scale = 0;
    const auto p =
        ops::embed(b.g(), side + ".positions", {rows.ids, table, positions, rows.step_or_spans, rows.rows}, places);
    return ops::add(b.g(), side + ".embed.add", x, p);
  }
  auto x = ops::embed(b.g(), side + ".embed", {rows.ids, table, positions, rows.step_or_spans, rows.rows}, attributes);
  if (rows.types != graph::kNone) x = add_types(b, rows, attributes, x);
  const auto norm = [&] { return normalize(b, side + ".embed_norm", {s, w.embedding_norm}, x); };
  if (s.embedding_norm && !s.embedding_norm_last) x = norm();
  if (s.embedding_width)
    x = ops::linear(b.g(), side + ".embed_projection", x, b.weight(w.embedding_projection), s.d_model);
  if (wide) x = ops::add(b.g(), side + ".embed.add", x, wide_positions(b, side, rows, attributes));
  return s.embedding_norm && s.embedding_norm_last ? norm() : x;
}

}  // namespace lapilli::model
