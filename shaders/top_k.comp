#version 450
// Per row and slice of the vocabulary the best K columns in order; one workgroup each. Every invocation knows the best of
// its own columns (every LOCAL-th vec4) that is not taken yet; a round takes the best of these, and only its owner looks
// for its next one.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "state.glsl"
#include "search.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 64;  // a multiple of 8
layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Candidates { uvec2 candidates[]; };  // [rows][slices][K]
layout(push_constant) uniform P {
  uint groups;
  uint columns, ld4;
  uint slice4, slices;
  uint x_begin4, out_begin2, out_ld2;  // vec4; pairs; pairs a row
  uint first_row;
  uint k;
} p;
shared float lane_score[128];
shared uint lane_id[128];
shared float part_score[8];
shared uint part_id[8];

// The best of the invocation's columns that ranks below (score, id); all rank below (_, NO_ID).
void next_best(uint base, uint begin, uint end, inout float score, inout uint id) {
  float best = MASKED;
  uint best_id = NO_ID;
  for (uint i = begin + gl_LocalInvocationIndex; i < end; i += LOCAL) {
    vec4 v = x[base + i];
    for (uint c = 0u; c < 4u; ++c) {
      uint column = 4u * i + c;
      float s = unless_forbidden(v[c]);
      bool open = column < p.columns && (id == NO_ID || better(score, id, s, column));
      // Columns ascend, so among equals the first one stays.
      if (open && (best_id == NO_ID || s > best)) {
        best = s;
        best_id = column;
      }
    }
  }
  score = best;
  id = best_id;
}

void main() {
  uint g = group_index();
  if (g >= p.groups) return;
  uint row = g / p.slices, slice = g % p.slices;
#ifdef USE_STEP
  if (p.first_row + row >= step_word(STEP_LIVE)) return;
#endif
  uint lane = gl_LocalInvocationIndex, base = p.x_begin4 + row * p.ld4;
  uint begin = slice * p.slice4, end = min(begin + p.slice4, p.ld4);
  uint out_base = p.out_begin2 + row * p.out_ld2 + slice * p.k;
  float score = MASKED;
  uint id = NO_ID;
  next_best(base, begin, end, score, id);
  lane_score[lane] = score;
  lane_id[lane] = id;
  for (uint round = 0u; round < p.k; ++round) {
    barrier();
    if (lane < 8u) {
      float s = MASKED;
      uint n = NO_ID;
      for (uint i = lane; i < LOCAL; i += 8u)
        if (better(lane_score[i], lane_id[i], s, n)) {
          s = lane_score[i];
          n = lane_id[i];
        }
      part_score[lane] = s;
      part_id[lane] = n;
    }
    barrier();
    float s = part_score[0];
    uint n = part_id[0];
    for (uint i = 1u; i < 8u; ++i)
      if (better(part_score[i], part_id[i], s, n)) {
        s = part_score[i];
        n = part_id[i];
      }
    if (lane == 0u) candidates[out_base + round] = uvec2(floatBitsToUint(s), n);
    if (n != NO_ID && n == id) {
      next_best(base, begin, end, score, id);
      lane_score[lane] = score;
      lane_id[lane] = id;
    }
  }
  // The padding of the row.
  if (slice + 1u == p.slices && lane == 0u)
    for (uint i = p.slices * p.k; i < p.out_ld2; ++i) candidates[p.out_begin2 + row * p.out_ld2 + i] = uvec2(0u);
}
