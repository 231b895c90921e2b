// Activations in double precision, for references.
#pragma once

#include <algorithm>
#include <cmath>

#include "ops/core/activations.hpp"

namespace lapilli {

inline double activate(Activation kind, double x) {
  switch (kind) {
    case Activation::relu: return x > 0 ? x : 0.0;
    case Activation::gelu_erf: return 0.5 * x * (1 + std::erf(x * 0.70710678118654752440));
    case Activation::gelu_tanh: return 0.5 * x * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case Activation::silu: return x / (1 + std::exp(-x));
    case Activation::tanh: return std::tanh(x);
    case Activation::gelu_quick: return x / (1 + std::exp(-1.702 * x));
    case Activation::gelu_10: return std::clamp(activate(Activation::gelu_erf, x), -10.0, 10.0);
    case Activation::relu6: return std::clamp(x, 0.0, 6.0);
    case Activation::relu_squared: return x > 0 ? x * x : 0.0;
    case Activation::leaky_relu: return x > 0 ? x : 0.01 * x;
    case Activation::mish: return x > 40 ? x : x * std::tanh(std::log1p(std::exp(x)));
    case Activation::sigmoid: return 1 / (1 + std::exp(-x));
    case Activation::none: break;
  }
  return x;
}

}  // namespace lapilli
