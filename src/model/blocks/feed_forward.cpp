#include "model/blocks/feed_forward.hpp"

namespace lapilli::model {

graph::TensorId feed_forward(Builder& b, const std::string& label, const LayerWeights& w, uint32_t ffn,
                             graph::TensorId h, graph::TensorId x, bool live_rows) {
  const auto inner = ops::linear(b.g(), label + ".fc1", h, b.weight(w.fc1), ffn, {b.config().activation, live_rows});
  return ops::linear_add(b.g(), label + ".fc2", inner, b.weight(w.fc2), x, live_rows);
}

}  // namespace lapilli::model
