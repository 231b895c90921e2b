#include "model/blocks/feed_forward.hpp"

namespace lapilli::model {

graph::TensorId feed_forward(Builder& b, const std::string& label, const StackConfig& stack, const LayerWeights& w,
                             const Sublayer& in) {
  if (stack.gated) {
    const auto columns = static_cast<uint32_t>(gate_value_column(stack.ffn)) + stack.ffn;
    const auto both = ops::linear(b.g(), label + ".fc1+gate", in.h, b.weight(w.fc1), columns);
    const auto gated = ops::gate(b.g(), label + ".gate", both, stack.ffn, stack.activation);
    return ops::linear_add(b.g(), label + ".fc2", gated, b.weight(w.fc2), in.x);
  }
  const auto inner = ops::linear(b.g(), label + ".fc1", in.h, b.weight(w.fc1), {stack.ffn, stack.activation});
  return ops::linear_add(b.g(), label + ".fc2", inner, b.weight(w.fc2), in.x);
}

}  // namespace lapilli::model
