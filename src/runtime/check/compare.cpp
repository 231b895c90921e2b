#include "runtime/check/compare.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/half.hpp"
#include "base/worst.hpp"
#include "ops/core/kv_layout.hpp"

namespace lapilli {

namespace {

constexpr double kWordTolerance = 1e-3;  // for floats in u32 tensors: scores that the search sums

bool close_floats(uint32_t a, uint32_t b) {
  const float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
  // Integers look like tiny floats: they must be equal as words.
  if (!std::isnormal(x) || !std::isnormal(y) || std::abs(x) < 1e-30f || std::abs(y) < 1e-30f) return false;
  return std::abs(x - y) <= kWordTolerance * std::max(1.0f, std::abs(y));
}

double half(uint32_t bits) { return static_cast<double>(half_to_float(static_cast<uint16_t>(bits))); }

double float_deviation(std::span<const uint32_t> words, const std::vector<double>& expected) {
  double scale = 1, worst = 0;
  for (size_t i = 0; i < words.size(); ++i)
    scale = std::max(scale, std::abs(expected[i]) < 1e29 ? std::abs(expected[i]) : 0);
  for (size_t i = 0; i < words.size(); ++i) {
    const double d = std::abs(std::bit_cast<float>(words[i]) - expected[i]) / (expected[i] <= -1e29 ? 1e30 : scale);
    worst = worse(worst, d);
  }
  return worst;
}

uint64_t words_that_differ(std::span<const uint32_t> words, const std::vector<uint32_t>& expected) {
  uint64_t count = 0;
  for (size_t i = 0; i < words.size(); ++i)
    if (words[i] != expected[i] && !close_floats(words[i], expected[i])) ++count;
  return count;
}

// A sum on the boundary between two halves may round to either.
double half_deviation(std::span<const uint32_t> words, const std::vector<uint32_t>& expected) {
  double scale = 1, worst = 0;
  for (size_t i = 0; i < words.size(); ++i)
    for (const uint32_t shift : {0u, 16u}) {
      const double a = half(words[i] >> shift), b = half(expected[i] >> shift);
      scale = std::max(scale, std::abs(b));
      worst = worse(worst, std::max(0.0, std::abs(a - b) - half_step(b)));
    }
  return worst / scale;
}

}  // namespace

TensorDeviation deviation_of(const graph::Tensor& t, std::span<const uint32_t> words, const HostTensor& expected) {
  if (t.dtype == graph::DType::f32) return {float_deviation(words, expected.f), 0};
  if (t.dtype == graph::DType::f16) return {half_deviation(words, expected.u), 0};
  return {0, words_that_differ(words, expected.u)};
}

}  // namespace lapilli
