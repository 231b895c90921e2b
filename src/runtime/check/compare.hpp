// Compares a tensor on the device with the double-precision values of the interpreter.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/check/interpreter.hpp"

namespace lapilli {

// Deviation of a tensor's words on a device from the expected values.
struct TensorDeviation {
  double deviation = 0;  // largest |device - expected| / max(1, largest |expected|), for f32 and (beyond one step) f16
  uint64_t words_that_differ = 0;  // in u32; words that hold close floats do not count
};
TensorDeviation deviation_of(const graph::Tensor& t, std::span<const uint32_t> words, const HostTensor& expected);

}  // namespace lapilli
