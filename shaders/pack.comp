#version 450
// Packs stored rows of a linear layer's weight (or its bias, as a matrix of depth 1) into columns of a packed matrix:
// neighbouring invocations take neighbouring rows, whose elements are neighbours in a panel; each moves DEPTH elements
// of its row.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "panel.glsl"
#include "narrow.glsl"
#include "stored.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;      // a multiple of PANEL
layout(constant_id = 1) const uint DEPTH = 8;       // elements per invocation, whole granules
layout(constant_id = 2) const uint FORMAT = 0;      // StoredFormat
layout(constant_id = 3) const uint TRANSPOSED = 0;  // 1: rows are stored as columns
layout(constant_id = 4) const uint W_FORMAT = 0;    // format of the packed matrix
layout(std430, set = 0, binding = 0) readonly buffer Raw { uint raw[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Packed { uint dst[]; };
layout(push_constant) uniform P {
  uint groups;
  uint depth_groups;             // groups along K
  uint rows, k;                  // rows and depth of this part
  uint raw_begin, raw_ld;        // elements
  uint first_row, first_column;  // number of the part's first row; see PackAttributes
  uint group, group_stride;
  uint panel_words, dst_begin;   // dst_begin may wrap
} p;

uint bits_at(uint element) { return stored_bits(FORMAT, raw[stored_word(FORMAT, element)], element); }

float number_at(uint element) { return uintBitsToFloat(bits_at(element)); }

// The scales word for depths that share scales.
uint scales_from(uint from, uint step, uint begin, uint end) {
  float lowest = number_at(from + begin * step), highest = lowest;
  for (uint d = begin + 1u; d < end; ++d) {
    float v = number_at(from + d * step);
    lowest = min(lowest, v);
    highest = max(highest, v);
  }
  return scales_of(W_FORMAT, lowest, highest);
}

// Packs depths of a row that share scales.
void pack_granule(uint from, uint step, uint begin, uint end, uint to) {
  uint scales = scales_from(from, step, begin, end);
  dst[to + granule_row(W_FORMAT, begin) * PANEL] = scales;
  for (uint i = begin; i < end; i += depths_a_word(W_FORMAT)) {
    uint word = 0u;
    for (uint d = i; d < min(i + depths_a_word(W_FORMAT), end); ++d)
      word |= scaled_bits(W_FORMAT, number_at(from + d * step), scales) << depth_shift(W_FORMAT, d);
    dst[to + depth_row(W_FORMAT, i) * PANEL] = word;
  }
}

// For formats without scales, which have one or two depths per word. One loop, since an element costs little more than
// an iteration.
uint weight_at(uint element) { return weight_bits(W_FORMAT, bits_at(element)); }
void pack_words(uint from, uint step, uint begin, uint end, uint to) {
  for (uint i = begin; i < end; i += depths_a_word(W_FORMAT)) {
    uint word = weight_at(from + i * step);
    if (depths_a_word(W_FORMAT) == 2u && i + 1u < end)
      word |= weight_at(from + (i + 1u) * step) << depth_shift(W_FORMAT, 1u);
    dst[to + depth_row(W_FORMAT, i) * PANEL] = word;
  }
}

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
  if (!has_scales(W_FORMAT)) {
    pack_words(from, step, begin, end, to);
    return;
  }
  for (uint i = begin; i < end; i += granule(W_FORMAT)) pack_granule(from, step, i, min(i + granule(W_FORMAT), end), to);
}
