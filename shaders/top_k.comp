#version 450
// Per row and slice of the vocabulary: the best K columns in order; one workgroup each. Every invocation knows the best
// two of its own columns (every LOCAL-th vec4) that are not yet taken; a round takes the best of all, and only its
// owner, if it knew no other, looks for its next two: a look waits for memory several times. DRAW: ranks by keys, which
// are scores plus random numbers; each look regenerates the numbers.
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#ifdef PROCESS
#define PARAMS_BINDING 3
#define STAGE 1
#endif
#include "common.glsl"
#include "state.glsl"
#include "search.glsl"
#ifdef DRAW
#include "draw.glsl"
#endif
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 64;  // a multiple of 8
#ifdef PROCESS
layout(std430, set = 0, binding = 0) coherent buffer Scores { float scores[]; };
layout(std430, set = 0, binding = 1) readonly buffer Lineage { uint lineage[]; };
layout(std430, set = 0, binding = 2) readonly buffer Lists { uint lists[]; };
layout(std430, set = 0, binding = 8) readonly buffer Partials { vec2 partials[]; };        // see log_softmax.comp
layout(std430, set = 0, binding = 9) writeonly buffer Candidates { uvec2 candidates[]; };  // [rows][slices][K]
vec4 scores_at(uint i) { return vec4(scores[4u * i], scores[4u * i + 1u], scores[4u * i + 2u], scores[4u * i + 3u]); }
#else
layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
vec4 scores_at(uint i) { return x[i]; }
#endif
#ifdef PROCESS
#elif defined(DRAW)
layout(std430, set = 0, binding = 1) writeonly buffer Candidates { uvec4 candidates[]; };  // [rows][slices][K]
#else
layout(std430, set = 0, binding = 1) writeonly buffer Candidates { uvec2 candidates[]; };  // [rows][slices][K]
#endif
layout(push_constant) uniform P {
  uint groups;
  uint columns, ld4;                 // columns; vec4s per row
  uint slice4, slices;               // vec4s per slice; slices per row
  uint x_begin4, out_begin, out_ld;  // vec4s; candidates; candidates per row
  uint first_row;
  uint k;
  uint beams;  // DRAW, PROCESS
#ifdef PROCESS
  uint beam_slots, positions;
  uint parts_begin, parts_ld;  // pairs; pairs per row
#endif
} p;
#include "slices.glsl"
#ifdef PROCESS
const uint CHUNK = 4096u;  // the maximum number of columns in a slice
#include "log_sum.glsl"
#include "processors.glsl"

// Replaces the slice's scores by log-probabilities, changed by the processors.
void make_scores(const Slice slice) {
  uint row = row_word(p.first_row + slice.row), beam_slot = beam_slot_of(row);
  const vec2 all = whole_row(p.parts_begin + slice.row * p.parts_ld, p.slices);
  for (uint i = slice.begin + gl_LocalInvocationIndex; i < slice.end; i += LOCAL) {
    uint at = slice.base + i;
    vec4 y = log_probabilities(scores_at(at), all, i, p.columns);
    for (uint c = 0u; c < 4u; ++c) scores[4u * at + c] = y[c];
  }
  hand_over();
  place_params(beam_slot, p.beams);
  scores_begin = 4u * slice.base;
  first_id = 4u * slice.begin;
  end_id = min(4u * slice.end, p.columns);
  process(beam_slot, position_of(row));
  hand_over();
}
#endif
shared float lane_score[128];
shared uint lane_id[128];
shared float part_score[8];
shared uint part_id[8];

#ifdef DRAW
DrawPlace place;

vec4 keys(uint i, vec4 v) {
  bvec4 no = lessThanEqual(v, vec4(FORBIDDEN));
  if (all(no)) return vec4(MASKED);
  vec4 noise = gumbel4(i, place);
  // Every look must produce the same bits: they are compared for equality.
  precise vec4 sum = v + noise;
  return mix(sum, vec4(MASKED), no);
}
#else
vec4 keys(uint i, vec4 v) { return v; }
#endif

// Infinities and NaN rank before all numbers: otherwise they would be lost, and beam_step could not detect them.
float ranked(float score) {
  uint bits = floatBitsToUint(score);
  return no_number(bits) && bits != 0xff800000u ? uintBitsToFloat(0x7f800000u) : unless_forbidden(score);
}

// The best two of an invocation's columns; NO_ID: none.
struct Best {
  float score, next_score;
  uint id, next_id;
};

// The best two that rank below the last best; everything ranks below an entry with NO_ID.
Best look_below(const Slice slice, const Best last) {
  Best best = Best(MASKED, MASKED, NO_ID, NO_ID);
  for (uint i = slice.begin + gl_LocalInvocationIndex; i < slice.end; i += LOCAL) {
    vec4 v = keys(i, scores_at(slice.base + i));
    for (uint c = 0u; c < 4u; ++c) {
      uint column = 4u * i + c;
      float s = ranked(v[c]);
      if (column >= p.columns || !(last.id == NO_ID || better(last.score, last.id, s, column))) continue;
      // Columns ascend, so among equals the first stays.
      if (best.id == NO_ID || s > best.score)
        best = Best(s, best.score, column, best.id);
      else if (best.next_id == NO_ID || s > best.next_score)
        best = Best(best.score, s, best.id, column);
    }
  }
  return best;
}

void main() {
  uint g = group_index();
  if (g >= p.groups) return;
  const Slice slice = slice_of(g);
  if (!is_live(slice)) return;
  uint lane = gl_LocalInvocationIndex, out_row = p.out_begin + slice.row * p.out_ld;
  uint out_base = out_row + slice.number * p.k;
  Best own = Best(MASKED, MASKED, NO_ID, NO_ID);
#ifdef DRAW
  place = draw_place(p.first_row + slice.row, p.beams);
#endif
#ifdef PROCESS
  make_scores(slice);
#endif
  bool taken = true;  // whether its best was taken; initially true, for no best at all
  for (uint round = 0u; round < p.k; ++round) {
    if (taken) {
      // The only call, so that keys are computed by the same instructions each time.
      if (own.next_id == NO_ID)
        own = look_below(slice, own);
      else
        own = Best(own.next_score, MASKED, own.next_id, NO_ID);
      lane_score[lane] = own.score;
      lane_id[lane] = own.id;
    }
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
#ifdef DRAW
    if (lane == 0u) {
      float value = n == NO_ID ? MASKED : unless_forbidden(x[slice.base + (n >> 2)][n & 3u]);
      candidates[out_base + round] = uvec4(floatBitsToUint(s), n, floatBitsToUint(value), 0u);
    }
#else
    if (lane == 0u) candidates[out_base + round] = uvec2(floatBitsToUint(s), n);
#endif
    taken = n != NO_ID && n == own.id;
  }
#ifndef DRAW
  // The padding of the row.
  if (slice.number + 1u == p.slices && lane == 0u)
    for (uint i = p.slices * p.k; i < p.out_ld; ++i) candidates[out_row + i] = uvec2(0u);
#endif
}
