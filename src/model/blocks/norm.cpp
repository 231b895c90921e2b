#include "model/blocks/norm.hpp"

namespace lapilli::model {

graph::TensorId normalize(Builder& b, const std::string& label, const NormLayer& norm, graph::TensorId x) {
  const StackConfig& s = norm.stack;
  return ops::layer_norm(b.g(), label, x, b.weight(norm.weight), {s.norm_epsilon, s.norm == Norm::rms ? 1u : 0u});
}

graph::TensorId before_sublayer(Builder& b, const std::string& label, const NormLayer& norm, graph::TensorId x) {
  return norm.stack.pre_norm && norm.weight != kNoWeight ? normalize(b, label, norm, x) : x;
}

graph::TensorId after_sublayer(Builder& b, const std::string& label, const NormLayer& norm, graph::TensorId x) {
  return norm.stack.pre_norm ? x : normalize(b, label, norm, x);
}

graph::TensorId add_linear(Builder& b, const std::string& label, const NormLayer& after, WeightIndex weight,
                           const Sublayer& in) {
  if (after.weight == kNoWeight) return ops::linear_add(b.g(), label, in.h, b.weight(weight), in.x);
  const auto y = ops::linear(b.g(), label, in.h, b.weight(weight), after.stack.d_model);
  return ops::add(b.g(), label + ".sum", in.x, normalize(b, label + ".norm", after, y));
}

}  // namespace lapilli::model
