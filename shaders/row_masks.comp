#version 450
// For each row of a step the words that tell which columns of the output count (ops/search/shortlist.hpp): those of its
// sentence's list, or all. A workgroup takes a row.
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#define PARAMS_BINDING 2
#include "common.glsl"
#include "state.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(std430, set = 0, binding = 0) readonly buffer Lists { uint lists[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Masks { uint masks[]; };
layout(push_constant) uniform P {
  uint groups;
  uint first_row, beams;
  uint words, ld;      // of a row; its stride
  uint masks_begin;
} p;

void main() {
  uint row = group_index();
  if (row >= p.groups || p.first_row + row >= step_word(STEP_LIVE)) return;
  place_params(beam_slot_of(row_word(p.first_row + row)), p.beams);
  uint from = param(P_SHORTLIST);
  for (uint i = gl_LocalInvocationIndex; i < p.ld; i += LOCAL) {
    uint word = 0u;
    if (i < p.words) word = from == 0u ? 0xffffffffu : lists[from - 1u + i];
    masks[p.masks_begin + row * p.ld + i] = word;
  }
}
