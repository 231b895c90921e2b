#version 450
// Rotates queries and keys of self attention by their positions, two columns at a time: neighbours, or one of each half;
// one workgroup per row. -DSTEP: rows of a decoding step; -DSPANS: rows of an encode pass.
#extension GL_GOOGLE_include_directive : enable
#ifdef STEP
#define USE_STEP
#endif
#ifdef SPANS
#define USE_SPANS
#endif
#include "common.glsl"
#include "state.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(std430, set = 0, binding = 0) buffer Q { float q[]; };
#ifdef STEP
#define KV_FORMAT_ID 1
#endif
#define KV_BINDING 1
#include "panel.glsl"
#include "kv_write.glsl"
layout(std430, set = 0, binding = 2) readonly buffer Table { float table[]; };
layout(push_constant) uniform P {
  uint groups;
  uint first_row;
  uint heads, head_dim, pairs;           // heads: of the queries, at least as many as those of the keys
  uint halves;                           // 1: pairs of a column in each half, not of neighbours
  uint table_ld;
  uint q_ld, q_begin;                    // words; q_ld 0: other dispatches handle the queries
  uint rows_per_slot, slots, positions;  // of kv
  uint head_begin, head_end;             // heads of kv bound here; other dispatches handle the rest
  uint cell_begin, cell_end;             // likewise cells, slot * positions + position
  uint kv_begin;                         // where the bound part begins, in numbers of kv
} p;
const uint TABLE_ROWS = 256u;  // kRotationRows

// Where a pair's second column is, counted from its first.
uint partner() { return p.halves != 0u ? p.pairs : 1u; }

// Rotates v by the angle whose cosine and sine are given.
vec2 turned(const vec2 v, const vec2 angle) { return vec2(v.x * angle.x - v.y * angle.y, v.y * angle.x + v.x * angle.y); }

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint row = p.first_row + group;
#ifdef STEP
  if (row >= step_word(STEP_LIVE)) return;
  uint word_of_row = row_word(row), position = position_of(word_of_row);
  uint cell = beam_slot_of(word_of_row) * p.positions + position;
#else
  uint slot = row / p.rows_per_slot, position = row - slot * p.rows_per_slot, cell = slot * p.positions + position;
#ifdef SPANS
  uint sentence;
  uvec4 span = span_of(row, SPAN_ROW, sentence);
  position = row - span[SPAN_ROW];
  if (position >= span[SPAN_IDS]) return;
#endif
#endif
  uint low = position % TABLE_ROWS * p.table_ld, high = (TABLE_ROWS + position / TABLE_ROWS) * p.table_ld;
  bool bound = cell >= p.cell_begin && cell < p.cell_end;
  for (uint i = gl_LocalInvocationIndex; i < p.heads * p.pairs; i += LOCAL) {
    uint head = i / p.pairs, pair = i - head * p.pairs, column = p.halves != 0u ? pair : 2u * pair, cosine = 2u * pair;
    vec2 angle = turned(vec2(table[low + cosine], table[low + cosine + 1u]), vec2(table[high + cosine], table[high + cosine + 1u]));
    if (p.q_ld != 0u) {
      uint at = p.q_begin + group * p.q_ld + head * p.head_dim + column;
      vec2 v = turned(vec2(q[at], q[at + partner()]), angle);
      q[at] = v.x;
      q[at + partner()] = v.y;
    }
    if (bound && head >= p.head_begin && head < p.head_end) {
      uint at = (head * p.slots * p.positions + cell) * 2u * p.head_dim + column - p.kv_begin;
#ifdef STEP
      store_kv_pair(at, turned(kv_pair(at), angle));
#else
      vec2 v = turned(vec2(kv_number(at), kv_number(at + partner())), angle);
      store_kv_number(at, v.x);
      store_kv_number(at + partner(), v.y);
#endif
    }
  }
}
