#include "model/blocks/norm.hpp"

namespace lapilli::model {

graph::TensorId normalize(Builder& b, const std::string& label, const NormLayer& norm, graph::TensorId x,
                          bool live_rows) {
  const StackConfig& s = norm.stack;
  return ops::layer_norm(b.g(), label, x, b.weight(norm.weight),
                         {s.norm_epsilon, live_rows ? 1u : 0u, s.norm == Norm::rms ? 1u : 0u});
}

graph::TensorId before_sublayer(Builder& b, const std::string& label, const NormLayer& norm, graph::TensorId x,
                                bool live_rows) {
  return norm.stack.pre_norm ? normalize(b, label, norm, x, live_rows) : x;
}

graph::TensorId after_sublayer(Builder& b, const std::string& label, const NormLayer& norm, graph::TensorId x,
                               bool live_rows) {
  return norm.stack.pre_norm ? x : normalize(b, label, norm, x, live_rows);
}

}  // namespace lapilli::model
