// Unpacks words of a weight to floats, whatever its format: the only place that does so. The format is a specialization
// constant of the including kernel, so that compilers drop the others.
#include "panel.glsl"

// One depth of four columns, from the words that hold it and those of its scales.
vec4 weights_of(const uint format, const uvec4 words, const uvec4 scales, const uint depth) {
  if (format == FORMAT_FP32) return uintBitsToFloat(words);
  if (format == FORMAT_INT8)
    return vec4(bitfieldExtract(ivec4(words), int(depth_shift(format, depth)), 8)) * uintBitsToFloat(scales);
  if (format == FORMAT_INT4)
    return vec4(bitfieldExtract(words, int(depth_shift(format, depth)), 4)) * uintBitsToFloat(scales << 16) +
           uintBitsToFloat(scales & 0xffff0000u);
  uvec4 bits = words >> depth_shift(format, depth);
  if (format == FORMAT_BF16) return uintBitsToFloat(bits << 16);
  return vec4(unpackHalf2x16(bits.x).x, unpackHalf2x16(bits.y).x, unpackHalf2x16(bits.z).x, unpackHalf2x16(bits.w).x);
}
