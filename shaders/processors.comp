#version 450
// All processors of a row of scores in the reference's order; one workgroup per row.
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#define PARAMS_BINDING 3
#include "common.glsl"
#include "state.glsl"
#include "search.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 64;
layout(std430, set = 0, binding = 0) coherent buffer Scores { float scores[]; };
layout(std430, set = 0, binding = 1) readonly buffer Lineage { uint lineage[]; };
layout(std430, set = 0, binding = 2) readonly buffer Lists { uint lists[]; };
layout(push_constant) uniform P {
  uint groups;
  uint columns, ld, begin;  // words
  uint first_row;
  uint beam_slots, positions, beams;
} p;

const uint CHUNK = 65536u;
#include "processors.glsl"
shared vec3 likely[128];

// Whisper's rules: timestamps come in pairs, except before the end, and never decrease; the first generated token is a
// timestamp; a timestamp is forced when all of them together are likelier than any text token.
void timestamps() {
  uint begin = param(P_TIMESTAMP_BEGIN), after = param(P_TIMESTAMP_AFTER), lane = gl_LocalInvocationIndex;
  if (mine(begin - 1u)) forbid(begin - 1u);
  uint generated = count - min(after, count);
  bool last = generated >= 1u && history(count - 1u) >= begin;
  bool before_last = generated < 2u || history(count - 2u) >= begin;
  if (last) {
    if (before_last)
      forbid_range(begin, p.columns);
    else
      forbid_range(0u, param(P_END_COUNT) == 0u ? 0u : param(P_END_IDS));
  }
  uint latest = 0u;
  for (uint i = count; i > after && latest == 0u; --i)
    if (history(i - 1u) >= begin) latest = history(i - 1u) + (last && !before_last ? 0u : 1u);
  if (latest != 0u) forbid_range(begin, latest);
  if (count == after) {
    forbid_range(0u, begin);
    if (param(P_TIMESTAMP_LATEST) != 0u) forbid_range(param(P_TIMESTAMP_LATEST) + 1u, p.columns);
  }
  // x: the best score of text; y, z: maximum and sum of exponentials of the timestamps.
  vec3 own = vec3(MASKED, MASKED, 0.0);
  for (uint id = lane; id < p.columns; id += LOCAL) {
    float s = scores[scores_begin + id];
    if (forbidden(s)) continue;
    if (id < begin) {
      own.x = max(own.x, s);
    } else {
      float m = max(own.y, s);
      own = vec3(own.x, m, own.z * exp(own.y - m) + exp(s - m));
    }
  }
  likely[lane] = own;
  barrier();
  for (uint s = LOCAL >> 1; s > 0u; s >>= 1) {
    if (lane < s) {
      vec3 a = likely[lane], b = likely[lane + s];
      float m = max(a.y, b.y);
      likely[lane] = vec3(max(a.x, b.x), m, a.z * exp(a.y - m) + b.z * exp(b.y - m));
    }
    barrier();
  }
  vec3 all = likely[0];
  if (all.z > 0.0 && all.y + log(all.z) > all.x) forbid_range(0u, begin);
}

void main() {
  uint row = group_index();
  if (row >= p.groups) return;
  if (p.first_row + row >= step_word(STEP_LIVE)) return;
  uint t = position_of(row_word(p.first_row + row)), beam_slot = beam_slot_of(row_word(p.first_row + row));
  place_params(beam_slot, p.beams);
  scores_begin = p.begin + row * p.ld;
  first_id = 0u;
  end_id = p.columns;
  process(beam_slot, t);
  if (param(P_TIMESTAMP_BEGIN) != 0u) timestamps();
}
