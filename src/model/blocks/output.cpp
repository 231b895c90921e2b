#include "model/blocks/output.hpp"

#include "model/blocks/clusters.hpp"
#include "model/blocks/norm.hpp"
#include "ops/products/listed_product.hpp"

namespace lapilli::model {

graph::TensorId output_states(Builder& b, graph::TensorId x) {
  const Config& c = b.config();
  const StackConfig& s = c.last_stack();
  const Network& n = b.network();
  if (!c.output_transform) return x;
  x = ops::linear(b.g(), "output.transform", x, b.weight(n.output_transform),
                  {s.embedding_columns(), c.output_activation});
  return c.output_transform_norm ? normalize(b, "output.norm", {s, n.output_norm}, x) : x;
}

graph::TensorId output_logits(Builder& b, graph::TensorId x) {
  const Config& c = b.config();
  const Network& n = b.network();
  if (!c.clusters.empty()) return cluster_logits(b, x);
  x = output_states(b, x);
  const float scale = c.output_cap == 0 ? c.output_scale : c.output_scale / c.output_cap;
  if (scale != 1) x = ops::scale(b.g(), "output.scale", x, scale);
  if (c.output_cap == 0) return ops::linear(b.g(), "logits", x, b.weight(n.output), c.target_vocabulary);
  x = ops::linear(b.g(), "logits.tanh", x, b.weight(n.output), {c.target_vocabulary, Activation::tanh});
  return ops::scale(b.g(), "logits", x, c.output_cap);
}

graph::TensorId listed_logits(Builder& b, graph::TensorId x, graph::TensorId masks) {
  return ops::listed_product(b.g(), "logits", {x, b.weight(b.network().output), masks}, b.config().target_vocabulary);
}

}  // namespace lapilli::model
