#version 450
// y = (x - mean) / deviation * weight + bias, with mean and deviation over all numbers of a sentence. Three dispatches:
// sums per row, one workgroup per row; sums per sentence from these, one workgroup per sentence; y, one workgroup per
// row.
#extension GL_GOOGLE_include_directive : enable
#define USE_SPANS
#include "common.glsl"
#include "deviation.glsl"
#include "state.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(constant_id = 1) const uint STAGE = 0;
layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) readonly buffer W { vec4 w[]; };  // weight, then bias
layout(std430, set = 0, binding = 2) writeonly buffer Y { vec4 y[]; };
// Per row: mean and sum of squared distances from it. Then per sentence: mean and 1 / deviation.
layout(std430, set = 0, binding = 3) buffer M { vec2 moments[]; };
layout(push_constant) uniform P {
  uint groups;
  uint first_row, rows;     // rows: the total number
  uint cols, ld4;           // columns; vec4s per row
  uint x_begin, y_begin;    // vec4
  float epsilon;
} p;
#include "total.glsl"

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint l = gl_LocalInvocationIndex, row = p.first_row + group, begin = p.x_begin + group * p.ld4;
  if (STAGE == 0u) {
    // The padding of x is zero, so whole vectors can be summed.
    vec4 s = vec4(0.0), q = vec4(0.0);
    for (uint i = l; i < p.ld4; i += LOCAL) s += x[begin + i];
    float mean = total(s.x + s.y + s.z + s.w) / float(p.cols);
    for (uint i = l; i < p.ld4; i += LOCAL) {
      vec4 d = deviation(x[begin + i], mean, i, p.cols);
      q += d * d;
    }
    float squares = total(q.x + q.y + q.z + q.w);
    if (l == 0u) moments[row] = vec2(mean, squares);
  } else if (STAGE == 1u) {
    uvec4 span = spans[group];
    uint n = span[SPAN_IDS];
    if (n == 0u) return;
    // Relative to the first row, so that equal rows have a deviation of exactly zero.
    float first = moments[span[SPAN_ROW]].x, s = 0.0, q = 0.0;
    for (uint i = l; i < n; i += LOCAL) s += moments[span[SPAN_ROW] + i].x - first;
    float mean = total(s) / float(n);
    for (uint i = l; i < n; i += LOCAL) {
      vec2 m = moments[span[SPAN_ROW] + i];
      float d = m.x - first - mean;
      q += m.y / float(p.cols) + d * d;
    }
    float variance = total(q) / float(n);
    if (l == 0u) moments[p.rows + group] = vec2(first + mean, inversesqrt(variance + p.epsilon));
  } else {
    uint sentence;
    uvec4 span = span_of(row, SPAN_ROW, sentence);
    bool there = row - span[SPAN_ROW] < span[SPAN_IDS];
    vec2 m = there ? moments[p.rows + sentence] : vec2(0.0);
    // Weight and bias are padded with zeros, so the padding of y becomes zero.
    for (uint i = l; i < p.ld4; i += LOCAL)
      y[p.y_begin + group * p.ld4 + i] = there ? (x[begin + i] - m.x) * m.y * w[i] + w[p.ld4 + i] : vec4(0.0);
  }
}
