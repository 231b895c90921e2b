// Normalizations around sublayers and at the ends of a stack.
#pragma once

#include "model/blocks/block.hpp"

namespace lapilli::model {

// The stack gives kind and epsilon of the norm.
struct NormLayer {
  const StackConfig& stack;
  WeightIndex weight;
};
graph::TensorId normalize(Builder& b, const std::string& label, const NormLayer& norm, graph::TensorId x);

// A sublayer's input: x itself in post-norm networks, its normalization in pre-norm ones (x itself without such a
// norm); and the treatment of its result: the other way round.
graph::TensorId before_sublayer(Builder& b, const std::string& label, const NormLayer& norm, graph::TensorId x);
graph::TensorId after_sublayer(Builder& b, const std::string& label, const NormLayer& norm, graph::TensorId x);
// x + the linear layer of h, in place of x; with `after`, the layer's result is normalized first.
graph::TensorId add_linear(Builder& b, const std::string& label, const NormLayer& after, WeightIndex weight,
                           const Sublayer& in);

}  // namespace lapilli::model
