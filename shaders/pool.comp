#version 450
// One row for each sentence of its rows of x: one of them, or their mean or maximum. A workgroup has a block of LOCAL
// vectors of columns of one sentence.
#extension GL_GOOGLE_include_directive : enable
#define USE_SPANS
#include "common.glsl"
#include "state.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(constant_id = 1) const uint POOLING = 0;  // enum class Pooling
layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Y { vec4 y[]; };
layout(push_constant) uniform P {
  uint groups;
  uint cols, ld4;     // columns; vec4s per row
  uint blocks;        // workgroups per sentence
  uint first, rows;   // the first sentence; rows of x
  uint row, skipped;  // ROW: which one of a sentence; its rows that are left out
  uint y_ld4;         // vec4s per row of y
  uint y_begin;       // vec4
} p;
const uint ROW = 0u, LAST = 1u, MEAN = 2u, RAMP = 3u, MAXIMUM = 4u, MEAN_SQRT = 5u;
// Rows that are summed by themselves before the sum of all, which bounds rounding errors.
const uint CHUNK = 64u;

vec4 at(const uint row, const uint i) { return x[row * p.ld4 + i]; }

// The sum of all rows, or of rows times their number from 1 on.
vec4 sum_of(const uint begin, const uint n, const uint i) {
  vec4 sum = vec4(0.0);
  for (uint from = 0u; from < n; from += CHUNK) {
    vec4 part = vec4(0.0);
    for (uint r = from; r < min(from + CHUNK, n); ++r)
      part += at(begin + r, i) * (POOLING == RAMP ? float(r + 1u) : 1.0);
    sum += part;
  }
  return sum;
}

vec4 maximum_of(const uint begin, const uint n, const uint i) {
  vec4 most = at(begin, i);
  for (uint r = 1u; r < n; ++r) most = max(most, at(begin + r, i));
  return most;
}

vec4 pooled(const uint begin, const uint n, const uint i) {
  if (n == 0u) return vec4(0.0);
  if (POOLING == LAST) return at(begin + n - 1u, i);
  if (POOLING == MEAN) return sum_of(begin, n, i) / float(n);
  if (POOLING == MEAN_SQRT) return sum_of(begin, n, i) / sqrt(float(n));
  if (POOLING == RAMP) return sum_of(begin, n, i) / (0.5 * float(n) * float(n + 1u));
  if (POOLING == MAXIMUM) return maximum_of(begin, n, i);
  return p.row < n ? at(begin + p.row, i) : vec4(0.0);
}

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint sentence = group / p.blocks, i = group % p.blocks * LOCAL + gl_LocalInvocationIndex;
  if (i >= p.ld4) return;
  uvec4 span = spans[p.first + sentence];
  uint skipped = min(p.skipped, span[SPAN_IDS]);
  uint begin = min(span[SPAN_ROW] + skipped, p.rows), n = min(span[SPAN_IDS] - skipped, p.rows - begin);
  bvec4 there = lessThan(uvec4(4u * i) + uvec4(0, 1, 2, 3), uvec4(p.cols));
  y[p.y_begin + sentence * p.y_ld4 + i] = mix(vec4(0.0), pooled(begin, n, i), there);
}
