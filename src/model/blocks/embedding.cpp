#include "model/blocks/embedding.hpp"

#include "model/blocks/norm.hpp"

namespace lapilli::model {

EmbedAttributes embed_attributes(const StackConfig& stack, uint32_t vocabulary) {
  EmbedAttributes e;
  e.vocabulary = vocabulary;
  e.d = stack.d_model;
  e.scale = stack.embedding_scale;
  e.position_offset = stack.position_offset;
  e.uncounted_id = stack.uncounted_id;
  return e;
}

graph::TensorId embed_rows(Builder& b, const std::string& side, const IdRows& rows, const EmbedAttributes& attributes) {
  const bool encoder = side == "encoder";
  const StackConfig& s = encoder ? b.config().encoder : b.config().decoder;
  const StackWeights& w = encoder ? b.network().encoder : b.network().decoder;
  const auto positions = w.positions == kNoWeight ? graph::kNone : b.weight(w.positions);
  const auto x =
      ops::embed(b.g(), side + ".embed", rows.ids, b.weight(w.embedding), positions, rows.step, rows.rows, attributes);
  if (!s.embedding_norm) return x;
  return normalize(b, side + ".embed_norm", {s, w.embedding_norm}, x, attributes.place == Place::step);
}

}  // namespace lapilli::model
