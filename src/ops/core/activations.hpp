// The functions that products, gates and "activation" apply; activation_math.hpp has what they are.
#pragma once

#include <cstdint>

namespace lapilli {

// All but sigmoid, which only gates know, are 0 at 0, so that padding stays zero. gelu_10: gelu_erf cut at -10 and 10.
enum class Activation : uint32_t {
  none,
  relu,
  gelu_erf,
  gelu_tanh,
  silu,
  tanh,
  gelu_quick,
  gelu_10,
  relu6,
  relu_squared,
  leaky_relu,
  mish,
  sigmoid
};
constexpr Activation kLastActivation = Activation::mish, kLastGate = Activation::sigmoid;

}  // namespace lapilli
