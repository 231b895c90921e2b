#version 450
// Stored rows of a linear layer's weight (or its bias, as a matrix of depth 1) into columns of a packed matrix: neighbouring
// invocations have neighbouring rows, whose elements are neighbours in a panel; each moves DEPTH elements of its row.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "panel.glsl"
#include "stored.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;      // a multiple of PANEL
layout(constant_id = 1) const uint DEPTH = 8;       // elements an invocation
layout(constant_id = 2) const uint FORMAT = 0;      // StoredFormat
layout(constant_id = 3) const uint TRANSPOSED = 0;  // 1: the stored rows are columns
layout(std430, set = 0, binding = 0) readonly buffer Raw { uint raw[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Packed { uint dst[]; };  // bits of floats
layout(push_constant) uniform P {
  uint groups;
  uint depth_groups;             // groups side by side along K
  uint rows, k;                  // of this part
  uint raw_begin, raw_ld;        // elements
  uint first_row, first_column;  // number of the part's first row; see PackAttributes
  uint group, group_stride;
  uint panel_words, dst_begin;   // dst_begin may wrap
} p;

void main() {
  uint g = group_index();
  if (g >= p.groups) return;
  uint lane = gl_LocalInvocationIndex;
  uint tile = g / p.depth_groups;
  uint row = tile * PANEL + lane % PANEL;
  if (row >= p.rows) return;
  uint begin = ((g - tile * p.depth_groups) * (LOCAL / PANEL) + lane / PANEL) * DEPTH;
  uint end = min(begin + DEPTH, p.k);
  uint number = p.first_row + row;
  uint column = p.first_column + number / p.group * p.group_stride + number % p.group;
  uint to = p.dst_begin + packed_element(column, 0u, p.panel_words);
  uint step = TRANSPOSED != 0u ? p.raw_ld : 1u;
  uint from = p.raw_begin + row * (TRANSPOSED != 0u ? 1u : p.raw_ld);
  for (uint i = begin; i < end; ++i) {
    uint at = from + i * step;
    dst[to + i * PANEL] = stored_bits(FORMAT, raw[stored_word(FORMAT, at)], at);
  }
}
