// Bits of floats as the bits of a weight's format (behind panel.glsl), rounded to nearest even: the GPU's view of
// lapilli::weight_bits in src/ops/weight_layout.hpp (a test compares the two). In integers: drivers round packHalf2x16 as
// they like, and flush what is subnormal.

uint bf16_bits(const uint f) {
  if ((f & 0x7fffffffu) > 0x7f800000u) return (f >> 16) | 0x40u;
  return (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
}

uint fp16_bits(const uint f) {
  uint sign = (f >> 16) & 0x8000u, a = f & 0x7fffffffu;
  if (a > 0x7f800000u) return sign | 0x7e00u;
  if (a >= 0x47800000u) return sign | 0x7c00u;
  if (a < 0x33000000u) return sign;
  int exponent = int(a >> 23) - 127;
  uint mantissa = (a & 0x7fffffu) | 0x800000u;
  int dropped = exponent < -14 ? -exponent - 1 : 13;
  uint kept = mantissa >> dropped, rest = mantissa & ((1u << dropped) - 1u), middle = 1u << (dropped - 1);
  if (rest > middle || (rest == middle && (kept & 1u) != 0u)) ++kept;
  if (exponent >= -14) kept += uint(exponent + 14) << 10;
  return sign | kept;
}

// Numbers that share a scale; both by products alone, which devices round alike.
float scale_of(const float largest) { return largest < 7.888609052210118e-31f ? 0.0f : largest * (1.0f / 127.0f); }

uint scaled_bits(const float value, const float scale) {
  float size = abs(value);
  if (!(scale > 0.0f) || !(size <= 3.402823466e+38f)) return 0u;
  float q = min(floor(size / scale + 0.5f), 127.0f);
  while (q < 127.0f && (q + 0.5f) * scale <= size) q += 1.0f;
  while (q > 0.0f && (q - 0.5f) * scale > size) q -= 1.0f;
  return uint(int(value < 0.0f ? -q : q)) & 0xffu;
}

uint weight_bits(const uint format, const uint f) {
  return format == FORMAT_BF16 ? bf16_bits(f) : format == FORMAT_FP16 ? fp16_bits(f) : f;
}
