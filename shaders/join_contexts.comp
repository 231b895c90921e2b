#version 450
// Results of attention to two sets of keys become that of one softmax over both (ops/attention/join_contexts.hpp): a
// workgroup takes a row.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(std430, set = 0, binding = 0) readonly buffer A { float a[]; };
layout(std430, set = 0, binding = 1) readonly buffer B { float b[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform P {
  uint groups;
  uint cols, head_dim;
  uint sums;                       // column of the first head's logarithm; the next one is four behind it
  uint ld, y_ld;                   // row strides in words
  uint a_begin, b_begin, y_begin;  // words
} p;

void main() {
  uint row = group_index();
  if (row >= p.groups) return;
  uint from_a = p.a_begin + row * p.ld, from_b = p.b_begin + row * p.ld, to = p.y_begin + row * p.y_ld;
  for (uint c = gl_LocalInvocationID.x; c < p.y_ld; c += LOCAL) {
    uint column = min(c, p.cols - 1u), sum_at = p.sums + 4u * (column / p.head_dim);
    vec2 sums = vec2(a[from_a + sum_at], b[from_b + sum_at]);
    vec2 share = exp(sums - max(sums.x, sums.y));
    float v = (share.x * a[from_a + column] + share.y * b[from_b + column]) / (share.x + share.y);
    y[to + c] = c < p.cols ? v : 0.0;
  }
}
