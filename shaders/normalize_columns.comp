#version 450
// y = (x - mean) / deviation of each column over the rows that count; one workgroup per four columns.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) readonly buffer C { uint counts[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Y { vec4 y[]; };
layout(push_constant) uniform P {
  uint groups;             // vec4s per row
  uint rows;
  uint means, deviations;  // 0: skipped
  float epsilon;
} p;
#define PART vec4
#include "total.glsl"

void main() {
  uint column = group_index();
  if (column >= p.groups) return;
  uint l = gl_LocalInvocationIndex, n = min(counts[0], p.rows);
  float share = 1.0 / float(max(n, 1u));
  // Relative to the first row, so that a constant column has a deviation of exactly zero.
  vec4 first = x[column], s = vec4(0.0);
  for (uint r = l; r < n; r += LOCAL) s += x[r * p.groups + column] - first;
  vec4 mean = total(s) * share;
  vec4 q = vec4(0.0);
  for (uint r = l; r < n; r += LOCAL) {
    vec4 d = x[r * p.groups + column] - first - mean;
    q += d * d;
  }
  vec4 scale = inversesqrt(total(q) * share + p.epsilon);
  if (p.deviations == 0u) scale = vec4(1.0);
  for (uint r = l; r < p.rows; r += LOCAL) {
    vec4 v = x[r * p.groups + column];
    if (p.means != 0u) v = v - first - mean;
    y[r * p.groups + column] = r < n ? v * scale : vec4(0.0);
  }
}
