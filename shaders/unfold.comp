#version 450
// y[r, c * kernel + k] = scale * x[p * stride - before + k, c] + table[p + offset]: windows of a sentence's rows, where
// r is row p of the sentence; one workgroup per row.
#extension GL_GOOGLE_include_directive : enable
#define USE_SPANS
#include "common.glsl"
#include "state.glsl"
layout(local_size_x_id = 0) in;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Table { float table[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Y { float y[]; };
// Spans of the sentences in x; USE_SPANS gives those in y.
layout(std140, set = 0, binding = 5) uniform from_block {
  uvec4 from_spans[MAX_ROWS];
};
layout(constant_id = 0) const uint LOCAL = 32;
layout(push_constant) uniform P {
  uint groups;
  uint columns, x_ld, x_begin, y_ld, y_begin, first_row;
  uint x_first, x_end;  // rows of x that are bound; other dispatches handle the rest
  uint kernel, stride, before;
  uint position_offset, table_ld, table_rows;  // table_rows: total; 0: no table
  float scale;
} p;

void main() {
  uint row = group_index();
  if (row >= p.groups) return;
  uint sentence;
  uvec4 to = span_of(p.first_row + row, SPAN_ROW, sentence);
  uvec4 from = from_spans[sentence];
  uint position = p.first_row + row - to[SPAN_ROW], place = position + p.position_offset;
  bool there = position < to[SPAN_IDS], counts = position < to[SPAN_SLOT];
  for (uint i = gl_LocalInvocationIndex; i < p.y_ld; i += LOCAL) {
    uint at = position * p.stride + i % p.kernel;  // offset by `before` rows
    bool column = there && i < p.columns;
    bool read = column && at >= p.before && at - p.before < from[SPAN_IDS];
    uint x_row = from[SPAN_ROW] + at - p.before;
    // The first slice also takes elements that no row of x supplies.
    if (read ? x_row < p.x_first || x_row >= p.x_end : p.x_first != 0u) continue;
    float v = read ? p.scale * x[p.x_begin + (x_row - p.x_first) * p.x_ld + i / p.kernel] : 0.0;
    if (column && counts && place < p.table_rows) v += table[place * p.table_ld + i];
    y[p.y_begin + row * p.y_ld + i] = v;
  }
}
