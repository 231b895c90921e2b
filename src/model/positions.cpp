#include "model/positions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/attention/attention.hpp"

namespace lapilli::model {

std::vector<float> sinusoids(const StackConfig& s) {
  const uint32_t d = s.d_model, rows = s.max_positions + s.position_offset;
  const bool fairseq = s.positions == Positions::sinusoid_fairseq;
  const uint64_t ld = round_up<uint64_t>(d, 4);
  std::vector<float> table(rows * ld, 0.0f);
  // An odd last column is a sine in Marian's tables and zero in fairseq's.
  const uint32_t half = fairseq ? d / 2 : d / 2 + d % 2, filled = fairseq ? 2 * half : d;
  const double last = half > 1 ? half - 1 : 1;
  std::vector<double> frequency(half);
  for (uint32_t j = 0; j < half; ++j)
    frequency[j] = fairseq ? std::exp(-std::log(10000.0) * j / last) : std::pow(10000.0, -2.0 * j / d);
  for (uint32_t p = 0; p < rows; ++p) {
    if (fairseq && p + 1 == s.position_offset) continue;  // padding
    for (uint32_t i = 0; i < filled; ++i) {
      const double angle = p * frequency[i < half ? i : i - half];
      table[p * ld + i] = static_cast<float>(i < half ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

namespace {

// Turns per position of one pair, with the stack's change.
double scaled_frequency(const RotaryScaling& s, double frequency) {
  if (s.kind == RotaryScaling::Kind::none) return frequency;
  const double slow = frequency / s.factor;
  if (s.kind == RotaryScaling::Kind::linear) return slow;
  const double waves = s.original * frequency / (2 * std::numbers::pi);
  if (waves < s.low) return slow;
  if (waves > s.high) return frequency;
  const double share = (waves - s.low) / (s.high - s.low);
  return (1 - share) * slow + share * frequency;
}

}  // namespace

std::vector<float> rotations(const StackConfig& s, bool window) {
  const double base = window ? s.window_rotary_base : s.rotary_base;
  const RotaryScaling& scaling = window ? s.window_rotary_scaling : s.rotary_scaling;
  const uint64_t ld = round_up<uint64_t>(2 * uint64_t{s.rotary_pairs()}, 4);
  std::vector<float> table(2 * kRotationRows * ld, 0.0f);
  for (uint32_t r = 0; r < 2 * kRotationRows; ++r)
    for (uint32_t i = 0; i < s.rotary_pairs(); ++i) {
      const double position = r < kRotationRows ? r : (r - kRotationRows) * double{kRotationRows};
      const double angle = position * scaled_frequency(scaling, std::pow(base, -2.0 * i / s.rotary));
      table[r * ld + 2 * uint64_t{i}] = static_cast<float>(std::cos(angle));
      table[r * ld + 2 * uint64_t{i} + 1] = static_cast<float>(std::sin(angle));
    }
  return table;
}

std::vector<float> distance_sinusoids(uint32_t width, uint32_t clamp) {
  constexpr int32_t kReach = kBiasWords / 2 - 1;
  const uint64_t ld = round_up<uint64_t>(width, 4), half = width / 2;
  std::vector<float> table((2 * uint64_t{kReach} + 1) * ld, 0.0f);
  const int32_t most = clamp && clamp < kReach ? static_cast<int32_t>(clamp) : kReach;
  for (int32_t distance = -kReach; distance <= kReach; ++distance)
    for (uint64_t i = 0; i < half; ++i) {
      const double angle = std::clamp(distance, -most, most) * std::pow(10000.0, -2.0 * static_cast<double>(i) / width);
      float* row = table.data() + static_cast<uint64_t>(distance + kReach) * ld;
      row[i] = static_cast<float>(std::sin(angle));
      row[half + i] = static_cast<float>(std::cos(angle));
    }
  return table;
}

}  // namespace lapilli::model
