#version 450
// Softmax of rows in place over the columns of each sentence's range; one workgroup per row. Forbidden values count as
// outside.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "state.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(std430, set = 0, binding = 0) buffer X { vec4 x[]; };
layout(push_constant) uniform P {
  uint groups;
  uint cols, ld4;          // columns; vec4s per row
  uint x_begin;            // vec4
  uint first_row, rows_per_sentence;
} p;
shared float part[128];

float largest(float v) {
  uint l = gl_LocalInvocationIndex;
  part[l] = v;
  barrier();
  for (uint s = LOCAL >> 1; s > 0u; s >>= 1) {
    if (l < s) part[l] = max(part[l], part[l + s]);
    barrier();
  }
  float all = part[0];
  barrier();
  return all;
}

float total(float v) {
  uint l = gl_LocalInvocationIndex;
  part[l] = v;
  barrier();
  for (uint s = LOCAL >> 1; s > 0u; s >>= 1) {
    if (l < s) part[l] += part[l + s];
    barrier();
  }
  return part[0];
}

void main() {
  uint row = group_index();
  if (row >= p.groups) return;
  uint l = gl_LocalInvocationIndex, base = p.x_begin + row * p.ld4;
  uint begin = 0u, end = p.cols;
#ifdef USE_LENGTHS
  uint sentence = (p.first_row + row) / p.rows_per_sentence;
  begin = length_word(2u * sentence);
  end = min(length_word(2u * sentence + 1u), p.cols);
#endif
  // Vectors that overlap the range; none if it is empty.
  uint first = begin >> 2, last = begin < end ? (end + 3u) >> 2 : first;
  float m = MASKED;
  for (uint i = first + l; i < last; i += LOCAL) {
    vec4 v = x[base + i];
    uvec4 c = uvec4(4u * i) + uvec4(0, 1, 2, 3);
    for (uint j = 0u; j < 4u; ++j)
      if (c[j] >= begin && c[j] < end) m = max(m, v[j]);
  }
  m = largest(m);
  float sum = 0.0;
  for (uint i = first + l; i < last; i += LOCAL) {
    vec4 v = x[base + i], e = vec4(0.0);
    uvec4 c = uvec4(4u * i) + uvec4(0, 1, 2, 3);
    for (uint j = 0u; j < 4u; ++j)
      if (c[j] >= begin && c[j] < end && v[j] > FORBIDDEN) e[j] = exp(v[j] - m);
    x[base + i] = e;
    sum += e.x + e.y + e.z + e.w;
  }
  sum = total(sum);
  // The largest value adds 1 to the sum, so a sum of zero means that nothing counts.
  float scale = sum > 0.0 ? 1.0 / sum : 0.0;
  for (uint i = first + l; i < last; i += LOCAL) x[base + i] *= scale;
  for (uint i = l; i < first; i += LOCAL) x[base + i] = vec4(0.0);
  for (uint i = last + l; i < p.ld4; i += LOCAL) x[base + i] = vec4(0.0);
}
