#version 450
// y = scale * log(max(x, floor, floor of the row)) + offset; lines are rows, and padding becomes zero.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) readonly buffer F { float floors[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Y { vec4 y[]; };
layout(push_constant) uniform P {
  uint groups;
  uint per_line, line;            // groups and vec4s per row
  uint cols;
  uint x_begin, y_begin;          // vec4
  uint f_begin;                   // words
  float floor_of_all, scale, offset;
} p;

void element(const uint row, const uint i) {
  vec4 lowest = vec4(max(p.floor_of_all, floors[p.f_begin + row]));
  vec4 v = p.scale * log(max(x[p.x_begin + row * p.line + i], lowest)) + p.offset;
  bvec4 inside = lessThan(uvec4(4u * i) + uvec4(0, 1, 2, 3), uvec4(p.cols));
  y[p.y_begin + row * p.line + i] = mix(vec4(0.0), v, inside);
}
#include "lines.glsl"
