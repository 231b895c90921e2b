#version 450
// Reorders rows of maps by windows, or back (ops/attention/swin_windows.hpp); one workgroup per row of y.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
layout(local_size_x_id = 0) in;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Y { float y[]; };
layout(constant_id = 0) const uint LOCAL = 32;
layout(push_constant) uniform P {
  uint groups;
  uint x_columns, x_ld, x_begin, y_ld, y_begin, first_row;
  uint x_first, x_end;  // rows of x that are bound; other dispatches handle the rest
  uint beside;          // window rows per row of y
  uint back;
  uint height, width, side, shift;
} p;

const uint NONE = 0xffffffffu;

// The row of x that becomes row n of y, or NONE.
uint source_row(uint n) {
  uint rows = div_up(p.height, p.side), columns = div_up(p.width, p.side);
  uint high = rows * p.side, wide = columns * p.side, area = p.side * p.side;
  if (p.back != 0u) {
    uint map = n / (p.height * p.width), at = n % (p.height * p.width);
    uint down = (at / p.width + high - p.shift) % high, across = (at % p.width + wide - p.shift) % wide;
    uint window = (map * rows + down / p.side) * columns + across / p.side;
    return window * area + across % p.side * p.side + down % p.side;
  }
  uint window = n / area, at = n % area, map = window / (rows * columns);
  uint down = (window / columns % rows * p.side + at % p.side + p.shift) % high;
  uint across = (window % columns * p.side + at / p.side + p.shift) % wide;
  return down < p.height && across < p.width ? (map * p.height + down) * p.width + across : NONE;
}

void main() {
  uint row = group_index(), lane = gl_LocalInvocationIndex;
  if (row >= p.groups) return;
  uint to = p.y_begin + row * p.y_ld;
  for (uint part = 0u; part < p.beside; ++part, to += p.x_columns) {
    uint from = source_row((p.first_row + row) * p.beside + part);
    bool there = from != NONE;
    // The first slice also takes elements that no row of x supplies.
    if (there ? from < p.x_first || from >= p.x_end : p.x_first != 0u) continue;
    uint at = p.x_begin + (from - p.x_first) * p.x_ld;
    for (uint i = lane; i < p.x_columns; i += LOCAL) y[to + i] = there ? x[at + i] : 0.0;
  }
  if (p.x_first != 0u) return;
  for (uint i = p.beside * p.x_columns + lane; i < p.y_ld; i += LOCAL) y[p.y_begin + row * p.y_ld + i] = 0.0;
}
