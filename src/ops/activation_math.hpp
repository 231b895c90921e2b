// The activations in double precision, for references.
#pragma once

#include <cmath>

#include "ops/matmul.hpp"

namespace lapilli {

inline double activate(Activation kind, double x) {
  switch (kind) {
    case Activation::relu:
      return x > 0 ? x : 0.0;
    case Activation::gelu_erf:
      return 0.5 * x * (1 + std::erf(x * 0.70710678118654752440));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::none:
      break;
  }
  return x;
}

}  // namespace lapilli
