#version 450
// The state before the first step. STAGE 0, one workgroup: step words, search state, grids. STAGE 1, one workgroup a
// slot: the lineage of the given ids, in both parities, since every slot continues itself as long as ids are given.
#extension GL_GOOGLE_include_directive : enable
#define USE_PARAMS
#include "common.glsl"
#include "state.glsl"
layout(local_size_x = 64) in;
#if STAGE == 0
layout(std430, set = 0, binding = 0) writeonly buffer Step { uint step_words[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Search { uint search[]; };
layout(std430, set = 0, binding = 2) buffer Grids { uint grids[]; };
#include "grids.glsl"
#else
layout(std430, set = 0, binding = 0) writeonly buffer Lineage { uint lineage[]; };
layout(std430, set = 0, binding = 1) readonly buffer Lists { uint lists[]; };
#endif
layout(push_constant) uniform P {
  uint groups;
  uint slots, positions, beams, sentences;
} p;

void main() {
  uint g = group_index(), lane = gl_LocalInvocationIndex;
  if (g >= p.groups) return;
  uint sentences = min(param(P_SENTENCES), p.sentences), live = sentences * p.beams;
#if STAGE == 0
  for (uint i = lane; i < STEP_ROW_SLOT; i += 64u)
    step_words[i] = i == STEP_LIVE ? live : i == STEP_DONE && live == 0u ? 1u : 0u;
  for (uint r = lane; r < MAX_ROWS; r += 64u) step_words[STEP_ROW_SLOT + r] = r;
  uint stride = SEARCH_HEADER + 5u * p.beams, none = floatBitsToUint(-1e9);
  for (uint i = lane; i < sentences * stride; i += 64u) {
    uint word = i % stride, value = 0u;
    // Only the first beam counts at first, so that the beams do not all find the same.
    if (word > SEARCH_HEADER && word < SEARCH_HEADER + p.beams) value = none;
    if (word >= SEARCH_HEADER + p.beams && (word - SEARCH_HEADER - p.beams) % 4u == 0u) value = none;
    search[i] = value;
  }
  for (uint i = lane; i < MAX_GRIDS; i += 64u) write_grid(i, live);
#else
  if (g >= live) return;
  uint given = min(param(P_PREFIX), p.positions);
  for (uint i = lane; i < given; i += 64u) {
    uint id = lists[param(P_PREFIX_OFFSET) + g / p.beams * param(P_PREFIX) + i];
    for (uint parity = 0u; parity < 2u; ++parity) {
      lineage[((parity * 2u) * p.slots + g) * p.positions + i] = g;
      lineage[((parity * 2u + 1u) * p.slots + g) * p.positions + i] = id;
    }
  }
#endif
}
