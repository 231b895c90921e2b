#version 450
// ADD: x += y in place; GATE: y = act(x) * the other half of x's line; POWER: y = the sum of the squares of both;
// otherwise y = scale * act(x). Elements are vec4s.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "activation.glsl"
#ifdef ADD
layout(std430, set = 0, binding = 0) buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Y { vec4 y[]; };
#else
#ifndef POWER
layout(constant_id = 2) const uint ACTIVATION = 0;
#endif
layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Y { vec4 y[]; };
#endif
layout(push_constant) uniform P {
  uint groups;
  uint per_line, line;    // groups and vec4s per line
  uint x_begin, y_begin;  // vec4
#if defined(GATE) || defined(POWER)
  uint x_line;            // vec4s from line to line of x; its other half begins after `line`
#elif !defined(ADD)
  float scale;
#endif
} p;

void element(const uint row, const uint i) {
  uint at = row * p.line + i;
#ifdef ADD
  x[p.x_begin + at] += y[p.y_begin + at];
#elif defined(POWER)
  uint from = p.x_begin + row * p.x_line + i;
  y[p.y_begin + at] = x[from] * x[from] + x[from + p.line] * x[from + p.line];
#elif defined(GATE)
  uint from = p.x_begin + row * p.x_line + i;
  y[p.y_begin + at] = activate(x[from], ACTIVATION) * x[from + p.line];
#else
  y[p.y_begin + at] = p.scale * activate(x[p.x_begin + at], ACTIVATION);
#endif
}
#include "lines.glsl"
