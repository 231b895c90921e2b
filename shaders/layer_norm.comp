#version 450
// y = (x - mean) / sqrt(variance + epsilon) * weight + bias; one workgroup per row, sums in shared memory.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "deviation.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) readonly buffer W { vec4 w[]; };  // weight, then bias
layout(std430, set = 0, binding = 2) writeonly buffer Y { vec4 y[]; };
layout(push_constant) uniform P {
  uint groups;
  uint cols, ld4;           // columns; vec4s per row
  uint x_begin, y_begin;    // vec4
  float epsilon;
} p;
#include "total.glsl"

void main() {
  uint row = group_index();
  if (row >= p.groups) return;
  uint l = gl_LocalInvocationIndex, begin = p.x_begin + row * p.ld4;
  // The padding of x is zero, so whole vectors can be summed.
#ifdef RMS
  vec4 q = vec4(0.0);
  for (uint i = l; i < p.ld4; i += LOCAL) q += x[begin + i] * x[begin + i];
#else
  vec4 s = vec4(0.0);
  for (uint i = l; i < p.ld4; i += LOCAL) s += x[begin + i];
  float mean = total(s.x + s.y + s.z + s.w) / float(p.cols);
  vec4 q = vec4(0.0);
  for (uint i = l; i < p.ld4; i += LOCAL) {
    vec4 d = deviation(x[begin + i], mean, i, p.cols);
    q += d * d;
  }
#endif
  float inv = inversesqrt(total(q.x + q.y + q.z + q.w) / float(p.cols) + p.epsilon);
  // Weight and bias are padded with zeros, so the padding of y becomes zero.
#ifdef RMS
  for (uint i = l; i < p.ld4; i += LOCAL) y[p.y_begin + row * p.ld4 + i] = x[begin + i] * inv * w[i];
#else
  for (uint i = l; i < p.ld4; i += LOCAL) y[p.y_begin + row * p.ld4 + i] = (x[begin + i] - mean) * inv * w[i] + w[p.ld4 + i];
#endif
}
