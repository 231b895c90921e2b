// Activation functions of products, gates and "activation"; activation_math.hpp defines them.
#pragma once

#include <cstdint>

namespace lapilli {

// All are 0 at 0, so that padding stays zero, except sigmoid, which only gates support. gelu_10: gelu_erf clamped to
// -10..10.
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
