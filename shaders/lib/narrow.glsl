// Rounds float bits to the bits of a weight format (packed as in panel.glsl), to nearest even: the GPU's view of
// lapilli::weight_bits in src/ops/core/weight_layout.hpp (a test compares the two). Uses integers: drivers choose the
// rounding of packHalf2x16 and flush subnormals.

uint bf16_bits(const uint f) {
  if ((f & 0x7fffffffu) > 0x7f800000u) return (f >> 16) | 0x40u;
  return (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
}

// For positive values up to 65,536, which becomes infinity.
uint half_of(const uint f) {
  uint exponent = f >> 23;
  bool subnormal = exponent < 113u;
  uint digits = subnormal ? (f & 0x7fffffu) | 0x800000u : f - 0x38000000u;
  uint dropped = subnormal ? min(126u - exponent, 25u) : 13u;
  return (digits + (1u << (dropped - 1u)) - 1u + ((digits >> dropped) & 1u)) >> dropped;
}

uint fp16_bits(const uint f) {
  uint size = f & 0x7fffffffu;
  return ((f >> 16) & 0x8000u) | (size > 0x7f800000u ? 0x7e00u : half_of(min(size, 0x47800000u)));
}

// One half of a word of keys and values: lapilli::kv_half of src/ops/core/kv_layout.hpp. Clamps to the finite range.
uint kv_half(const uint f) {
  uint size = f & 0x7fffffffu;
  return ((f >> 16) & 0x8000u) | (size > 0x7f800000u ? 0x7e00u : half_of(min(size, 0x477fe000u)));
}

// Numbers that share scales use only products and differences, which all devices round alike. `precise` stops NVIDIA's
// compiler from turning a difference of products into the product of a difference, which may be infinite.
const float LEAST_SCALED = 7.888609052210118e-31f;

float scale_of(const float largest) { return largest < LEAST_SCALED ? 0.0f : largest * (1.0f / 127.0f); }

// The nearest bf16 not above a number (given as bits), and the nearest not below a positive one; neither is infinite.
uint bf16_below(const uint f) {
  if ((f & 0x80000000u) == 0u) return f >> 16;
  return min((f >> 16) + ((f & 0xffffu) != 0u ? 1u : 0u), 0xff7fu);
}
uint bf16_above(const uint f) { return min((f >> 16) + ((f & 0xffffu) != 0u ? 1u : 0u), 0x7f7fu); }

// int4: the minimum of a block, and fifteenths of the range above it, both bf16. A tiny minimum counts as 0.
uint minimum_bits(const float lowest) {
  return abs(lowest) < LEAST_SCALED ? 0u : bf16_below(floatBitsToUint(lowest));
}
uint range_bits(const float highest, const float minimum) {
  precise float sixteenth = highest * 0.0625f - minimum * 0.0625f;
  return sixteenth < LEAST_SCALED ? 0u : bf16_above(floatBitsToUint(sixteenth * (16.0f / 15.0f)));
}

// The word that holds a block's scales.
uint scales_of(const uint format, const float lowest, const float highest) {
  if (format == FORMAT_INT8) return floatBitsToUint(scale_of(max(abs(lowest), abs(highest))));
  uint minimum = minimum_bits(lowest);
  return minimum << 16 | range_bits(highest, uintBitsToFloat(minimum << 16));
}

// The nearest number of steps of a size, rounding half up: the q for which (q - 1/2) * scale <= size < (q + 1/2) *
// scale, decided by products alone.
float steps_of(const float size, const float scale, const float most) {
  if (!(scale > 0.0f) || !(size <= 3.402823466e+38f)) return 0.0f;
  float q = min(floor(size / scale + 0.5f), most);
  while (q < most && (q + 0.5f) * scale <= size) q += 1.0f;
  while (q > 0.0f && (q - 0.5f) * scale > size) q -= 1.0f;
  return q;
}

uint scaled_bits(const uint format, const float value, const uint scales) {
  if (format == FORMAT_INT8) {
    float q = steps_of(abs(value), uintBitsToFloat(scales), 127.0f);
    return uint(int(value < 0.0f ? -q : q)) & 0xffu;
  }
  precise float size = value * 0.0625f - uintBitsToFloat(scales & 0xffff0000u) * 0.0625f;
  return uint(steps_of(max(size, 0.0f), uintBitsToFloat(scales << 16) * 0.0625f, 15.0f));
}

uint weight_bits(const uint format, const uint f) {
  return format == FORMAT_BF16 ? bf16_bits(f) : format == FORMAT_FP16 ? fp16_bits(f) : f;
}
