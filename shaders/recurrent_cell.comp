#version 450
// x += max(c, 0), for the cells c of a decoder (ops/rows/recurrent_cell.hpp): an invocation takes four columns of a
// run of rows, from the first to the last. -DSTEP: runs are rows of one beam slot, whose cells lie in memory between
// steps; otherwise they are sentences, which begin with zeros.
#extension GL_GOOGLE_include_directive : enable
#ifdef STEP
#define USE_STEP
#endif
#include "common.glsl"
#include "state.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(std430, set = 0, binding = 0) buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Gates { vec4 gates[]; };
#ifdef STEP
layout(std430, set = 0, binding = 2) buffer Cells { vec4 cells[]; };
layout(std430, set = 0, binding = 3) readonly buffer Lineage { uint lineage[]; };
#endif
layout(push_constant) uniform P {
  uint groups;
  uint blocks;                 // workgroups that share a run
  uint first_row, rows;        // those of this dispatch
  uint run;                    // rows of a sentence
  uint ld4, gates_ld4;         // vec4s of a row
  uint x_begin, gates_begin;   // vec4
  uint beam_slots, positions;  // of the lineage; cells have as many beam slots
} p;

// The cell behind this row.
vec4 next_cell(const vec4 cell, const uint row, const uint column) {
  uint at = p.gates_begin + row * p.gates_ld4 + column;
  vec4 keep = 1.0 / (1.0 + exp(-clamp(gates[at], vec4(-80.0), vec4(80.0))));
  return keep * cell + (1.0 - keep) * gates[at + p.ld4];
}

#ifdef STEP
uint cell_at(const uint position, const uint beam_slot) { return ((position & 1u) * p.beam_slots + beam_slot) * p.ld4; }

uint slot_of_row(const uint row) { return beam_slot_of(row_word(p.first_row + row)); }

// The cell behind the position before this row's, in the beam slot that had it.
vec4 cell_before(const uint word, const uint column) {
  uint position = position_of(word);
  if (position == 0u) return vec4(0.0);
  uint parent = lineage[lineage_word(lineage_parity(position), LINEAGE_ANCESTRY, beam_slot_of(word), position - 1u,
                                     p.beam_slots, p.positions)];
  return cells[cell_at(position - 1u, parent) + column];
}
#endif

void main() {
  uint group = group_index(), column = group % p.blocks * LOCAL + gl_LocalInvocationIndex;
  if (group >= p.groups || column >= p.ld4) return;
#ifdef STEP
  uint row = group / p.blocks, live = step_word(STEP_LIVE);
  uint end = live < p.first_row + p.rows ? max(live, p.first_row) - p.first_row : p.rows;
  if (row >= end) return;
  uint word = row_word(p.first_row + row), beam_slot = beam_slot_of(word), position = position_of(word), begin = row;
  if (row > 0u && slot_of_row(row - 1u) == beam_slot) return;
  vec4 cell = cell_before(word, column), before = cell;
#else
  uint row = group / p.blocks * p.run, end = min(row + p.run, p.rows);
  vec4 cell = vec4(0.0);
#endif
  for (; row < end; ++row) {
#ifdef STEP
    if (slot_of_row(row) != beam_slot) break;
    before = cell;
#endif
    cell = next_cell(cell, row, column);
    x[p.x_begin + row * p.ld4 + column] += max(cell, vec4(0.0));
  }
#ifdef STEP
  // Both parities, as if each row had been a step.
  position += row - begin - 1u;
  cells[cell_at(position, beam_slot) + column] = cell;
  if (row > begin + 1u) cells[cell_at(position - 1u, beam_slot) + column] = before;
#endif
}
