#version 450
// x[r] = scale * table[id] + positions[position]; one workgroup per row. The table is packed like a matrix with one
// column per word, so a word's vector is gathered from one panel. -DSTEP: ids and positions of a decoding step;
// -DSPANS: rows of an encode pass.
#extension GL_GOOGLE_include_directive : enable
#ifdef STEP
#define USE_STEP
#endif
#ifdef SPANS
#define USE_SPANS
#endif
#include "common.glsl"
#include "state.glsl"
#include "weight.glsl"
layout(local_size_x_id = 0) in;
layout(std430, set = 0, binding = 0) readonly buffer Ids { uint ids[]; };
layout(std430, set = 0, binding = 1) readonly buffer Table { uint table[]; };
layout(std430, set = 0, binding = 2) writeonly buffer X { float x[]; };
layout(std430, set = 0, binding = 3) readonly buffer Positions { float positions[]; };
layout(constant_id = 0) const uint LOCAL = 32;
layout(constant_id = 1) const uint W_FORMAT = 0;  // format of the table
layout(push_constant) uniform P {
  uint groups;
  uint d, ld;
  uint first_id, end_id;       // ids whose panels are bound here; other dispatches handle the rest
  uint vocabulary;
  uint panel;                  // words per panel
  uint ids_begin, x_begin;     // elements
  uint first_row, rows_per_slot, position_offset;
  uint position_ld, positions_begin;  // words: row stride; where the bound rows begin
  uint position_begin, position_end;  // rows of the table that are bound; other dispatches handle the rest
  uint position_rows;               // rows that exist; 0: none
  uint lineage_beam_slots, lineage_positions;
  uint uncounted_id;
  uint id_begin;                    // with the table's first row
  float scale;
} p;

uvec4 scales(uint word, uint depth) {
  return has_scales(W_FORMAT) ? uvec4(table[word + granule_row(W_FORMAT, depth) * PANEL]) : uvec4(0u);
}

void main() {
  uint row = group_index();
  if (row >= p.groups) return;
#ifdef STEP
  if (row >= step_word(STEP_LIVE)) return;
  uint word_of_row = row_word(row), beam_slot = beam_slot_of(word_of_row), position = position_of(word_of_row);
  uint parity = lineage_parity(position);
  uint id = ids[lineage_word(parity, LINEAGE_TOKENS, beam_slot, position, p.lineage_beam_slots, p.lineage_positions)] - p.id_begin;
#else
#ifdef SPANS
  uint sentence;
  uvec4 span = span_of(p.first_row + row, SPAN_ROW, sentence);
  uint position = p.first_row + row - span[SPAN_ROW];
  if (position >= span[SPAN_IDS]) return;
#else
  uint position = (p.first_row + row) % p.rows_per_slot;
#endif
  uint id = ids[p.ids_begin + row] - p.id_begin;
#endif
  // The first slice also takes ids outside the vocabulary, which give zeros.
  bool known = id < p.vocabulary;
  if (known ? id < p.first_id || id >= p.end_id : p.first_id != 0u) return;
  uint word = packed_element(id - p.first_id, 0u, p.panel);
  // The uncounted id uses the row before all others.
#ifndef STEP
  uint before = 0u;
  if (p.uncounted_id != 0xffffffffu)
    for (uint i = 1u; i <= position; ++i) before += ids[p.ids_begin + row - i] == p.uncounted_id ? 1u : 0u;
  position -= before;
#endif
  uint place = id == p.uncounted_id ? p.position_offset - 1u : position + p.position_offset;
  // The first slice also takes places beyond the table, which add nothing.
  if (place < p.position_rows ? place < p.position_begin || place >= p.position_end : p.position_begin != 0u) return;
  uint at = p.positions_begin + (place - p.position_begin) * p.position_ld;
  bool placed = place < p.position_rows;
  for (uint i = gl_LocalInvocationIndex; i < p.ld; i += LOCAL) {
    float v = 0.0;
    if (known && i < p.d)
      v = p.scale * weights_of(W_FORMAT, uvec4(table[word + depth_row(W_FORMAT, i) * PANEL]), scales(word, i), i).x;
    if (placed && i < p.d) v += positions[at + i];
    x[p.x_begin + row * p.ld + i] = v;
  }
}
