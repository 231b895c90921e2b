#include "model/blocks/feed_forward.hpp"

#include "model/blocks/norm.hpp"

namespace lapilli::model {

graph::TensorId feed_forward(Builder& b, const std::string& label, const StackConfig& stack, const LayerWeights& w,
                             const Sublayer& in) {
  if (stack.gated) {
    const auto columns = static_cast<uint32_t>(gate_value_column(stack.ffn)) + stack.ffn;
    const auto both = ops::linear(b.g(), label + ".fc1+gate", in.h, b.weight(w.fc1), columns);
    const auto gated = ops::gate(b.g(), label + ".gate", both, stack.ffn, stack.activation);
    return add_linear(b, label + ".fc2", {stack, w.after_norm}, w.fc2, {gated, in.x});
  }
  auto inner = ops::linear(b.g(), label + ".fc1", in.h, b.weight(w.fc1), {stack.ffn, stack.activation});
  for (size_t i = 0; i < w.middle.size(); ++i)
    inner = ops::linear(b.g(), label + ".middle" + std::to_string(i), inner, b.weight(w.middle[i]),
                        {stack.ffn, stack.activation});
  return add_linear(b, label + ".fc2", {stack, w.after_norm}, w.fc2, {inner, in.x});
}

}  // namespace lapilli::model
