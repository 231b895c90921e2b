#version 450
// y = x, for words of any type; rows may be further apart in y, whose extra columns become zero.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
layout(std430, set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Y { uint y[]; };
layout(push_constant) uniform P {
  uint groups;
  uint per_line, line;       // groups and words of y per line
  uint first;                // column of y where line 0 begins
  uint cols, x_ld, y_ld;
  uint x_begin, y_begin;     // words: where line 0 begins
} p;

void element(const uint row, const uint i) {
  uint at = p.first + row * p.line + i;
  uint r = at / p.y_ld, c = at - r * p.y_ld;
  y[p.y_begin + at - p.first] = c < p.cols ? x[p.x_begin + r * p.x_ld + c - p.first] : 0u;
}
#include "lines.glsl"
