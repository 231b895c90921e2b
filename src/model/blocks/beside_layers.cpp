#include "model/blocks/beside_layers.hpp"

#include <utility>

#include "model/blocks/norm.hpp"
#include "model/relative.hpp"

namespace lapilli::model {

namespace {

// The network's own copy is given up once it is on the device. What made it has been checked with the config.
RelativeTable table_of(const DistanceVectors& v) {
  if (v.table != DistanceVectors::Table::stored) return plain_table();
  auto table = vector_table(v.buckets, v.distance);
  return table ? std::move(*table) : RelativeTable();
}

}  // namespace

DistanceRows distance_rows(Builder& b, uint32_t length) {
  const StackWeights& w = b.network().encoder;
  if (w.vectors == kNoWeight) return {};
  const VectorRows needed = vector_rows(table_of(b.config().encoder.vectors), length);
  DistanceRows d{
      ops::copy_rows(b.g(), "encoder.vectors", b.weight(w.vectors), needed.first, needed.last - needed.first + 1),
      needed.first};
  if (w.vectors_norm != kNoWeight)
    d.rows = normalize(b, "encoder.vectors.norm", {b.config().encoder, w.vectors_norm}, d.rows);
  return d;
}

graph::TensorId convolve_embeddings(Builder& b, graph::TensorId embeddings, graph::TensorId spans) {
  const StackConfig& s = b.config().encoder;
  const WeightIndex weight = b.network().encoder.convolution;
  if (weight == kNoWeight) return graph::kNone;
  const graph::Tensor& x = b.g().tensor(embeddings);
  const auto windows =
      ops::unfold(b.g(), "encoder.convolution.unfold", {embeddings, spans, graph::kNone, x.rows, x.live_rows},
                  {s.convolution, 1, s.convolution / 2});
  return ops::linear(b.g(), "encoder.convolution", windows, b.weight(weight), {s.d_model, s.convolution_activation});
}

graph::TensorId add_convolution(Builder& b, graph::TensorId x, graph::TensorId convolved) {
  if (convolved == graph::kNone) return x;
  x = ops::add(b.g(), "encoder.convolution.add", x, convolved);
  return normalize(b, "encoder.convolution.norm", {b.config().encoder, b.network().encoder.convolution_norm}, x);
}

}  // namespace lapilli::model
