// IEEE 754 half precision and bfloat16, as stored in checkpoints (bits in uint16_t).
#pragma once

#include <bit>
#include <cstdint>

namespace lapilli {

constexpr float half_to_float(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t exponent = (h >> 10) & 0x1fu;
  uint32_t mantissa = h & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  if (mantissa == 0) return std::bit_cast<float>(sign);
  uint32_t e = 113;  // subnormal: normalize
  while (!(mantissa & 0x400u)) mantissa <<= 1, --e;
  return std::bit_cast<float>(sign | (e << 23) | ((mantissa & 0x3ffu) << 13));
}

// Round to nearest even; overflow becomes infinity.
constexpr uint16_t float_to_half(float f) {
  const uint32_t x = std::bit_cast<uint32_t>(f);
  const uint16_t sign = static_cast<uint16_t>((x >> 16) & 0x8000u);
  const uint32_t a = x & 0x7fffffffu;
  if (a > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (a >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (a < 0x33000000u) return sign;
  const int e = static_cast<int>(a >> 23) - 127;
  const uint32_t m = (a & 0x7fffffu) | 0x800000u;
  const int shift = e < -14 ? -e - 1 : 13;  // mantissa bits dropped
  uint32_t q = m >> shift;
  const uint32_t rest = m & ((1u << shift) - 1), half = 1u << (shift - 1);
  if (rest > half || (rest == half && (q & 1u))) ++q;
  if (e >= -14) q += static_cast<uint32_t>(e + 14) << 10;
  return static_cast<uint16_t>(sign | q);
}

// Round to nearest even; overflow becomes infinity.
constexpr uint16_t float_to_bfloat16(float f) {
  const uint32_t x = std::bit_cast<uint32_t>(f);
  if ((x & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((x >> 16) | 0x40u);
  return static_cast<uint16_t>((x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
}
constexpr float bfloat16_to_float(uint16_t b) { return std::bit_cast<float>(static_cast<uint32_t>(b) << 16); }

}  // namespace lapilli
