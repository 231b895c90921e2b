#version 450
// y[r] = the maximum of row r; one workgroup per row.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "state.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Y { vec4 y[]; };
layout(push_constant) uniform P {
  uint groups;
  uint cols, ld;      // words per row
  uint x_begin;       // words
  uint y_begin;       // vec4
} p;
shared float part[128];

void main() {
  uint row = group_index();
  if (row >= p.groups) return;
  uint l = gl_LocalInvocationIndex;
  float m = MASKED;
  for (uint i = l; i < p.cols; i += LOCAL) m = max(m, x[p.x_begin + row * p.ld + i]);
  part[l] = m;
  barrier();
  for (uint s = LOCAL >> 1; s > 0u; s >>= 1) {
    if (l < s) part[l] = max(part[l], part[l + s]);
    barrier();
  }
  if (l == 0u) y[p.y_begin + row] = vec4(part[0], 0.0, 0.0, 0.0);
}
