#version 450
// Per row and slice of the vocabulary the best score (the lowest id among equals) and sum exp(x - best); one workgroup each.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "state.glsl"
#include "search.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Partials { uvec4 partials[]; };  // score, id, maximum, sum
layout(push_constant) uniform P {
  uint groups;
  uint columns, ld4;
  uint slice4, slices;
  uint x_begin4, out_begin4, out_ld4;
  uint first_row;
} p;
shared float part_score[128];
shared uint part_id[128];
shared float part_sum[128];

void main() {
  uint g = group_index();
  if (g >= p.groups) return;
  uint row = g / p.slices, slice = g % p.slices;
#ifdef USE_STEP
  if (p.first_row + row >= step_word(STEP_LIVE)) return;
#endif
  uint lane = gl_LocalInvocationIndex, base = p.x_begin4 + row * p.ld4;
  uint begin = slice * p.slice4, end = min(begin + p.slice4, p.ld4);
  float best = MASKED, sum = 0.0;
  uint best_id = NO_ID;
  for (uint i = begin + lane; i < end; i += LOCAL) {
    vec4 v = x[base + i];
    for (uint k = 0u; k < 4u; ++k) {
      uint id = 4u * i + k;
      if (id >= p.columns) break;
      float s = unless_forbidden(v[k]);
      if (s > best || best_id == NO_ID) {
        sum = sum * exp(best - s) + 1.0;
        best = s;
        best_id = id;
      } else {
        sum += exp(s - best);
      }
    }
  }
  part_score[lane] = best;
  part_id[lane] = best_id;
  part_sum[lane] = sum;
  barrier();
  for (uint s = LOCAL >> 1; s > 0u; s >>= 1) {
    if (lane < s) {
      float a = part_score[lane], b = part_score[lane + s], m = max(a, b);
      part_sum[lane] = part_sum[lane] * exp(a - m) + part_sum[lane + s] * exp(b - m);
      if (better(b, part_id[lane + s], a, part_id[lane])) part_id[lane] = part_id[lane + s];
      part_score[lane] = m;
    }
    barrier();
  }
  if (lane == 0u) {
    uint score = floatBitsToUint(part_score[0]);
    partials[p.out_begin4 + row * p.out_ld4 + slice] = uvec4(score, part_id[0], score, floatBitsToUint(part_sum[0]));
  }
}
