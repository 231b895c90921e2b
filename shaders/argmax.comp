#version 450
// Per row and slice of the vocabulary: the best score (the lowest id among equals) and sum exp(x - best), one workgroup
// each. DRAW: the best by score plus random number, its score, and the slice's log-sum-exp.
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#include "common.glsl"
#include "state.glsl"
#include "search.glsl"
#ifdef DRAW
#include "draw.glsl"
#endif
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Partials { uvec4 partials[]; };  // score, id, maximum, sum
layout(push_constant) uniform P {
  uint groups;
  uint columns, ld4;    // columns; vec4s per row
  uint slice4, slices;  // vec4s per slice; slices per row
  uint x_begin4, out_begin, out_ld;  // vec4s; partials; partials per row
  uint first_row;
} p;
#include "slices.glsl"
uint partial_of(const Slice slice) { return p.out_begin + slice.row * p.out_ld + slice.number; }

shared float part_score[128];
shared uint part_id[128];
shared float part_sum[128];
#ifdef DRAW
shared float part_key[128];
shared float part_max[128];

// The invocation's share of a slice: the best key with id and score, and the sum of exponentials.
struct Part {
  float key, score, most, sum;
  uint id;
};

Part join(Part a, Part b) {
  float m = max(a.most, b.most), sum = a.sum * exp(a.most - m) + b.sum * exp(b.most - m);
  if (better(b.key, b.id, a.key, a.id)) return Part(b.key, b.score, m, sum, b.id);
  return Part(a.key, a.score, m, sum, a.id);
}
Part one(uint id, float score, float noise) {
  float s = unless_forbidden(score);
  return Part(forbidden(s) ? MASKED : s + noise, s, s, 1.0, id);
}

void draw(const Slice slice) {
  uint lane = gl_LocalInvocationIndex;
  DrawPlace place = draw_place(p.first_row + slice.row, 1u);
  Part own = Part(MASKED, MASKED, MASKED, 0.0, NO_ID);
  for (uint i = slice.begin + lane; i < slice.end; i += LOCAL) {
    vec4 v = x[slice.base + i];
    vec4 noise = vec4(0.0);
    if (any(greaterThan(v, vec4(FORBIDDEN)))) noise = gumbel4(i, place);
    own = join(own, one(4u * i, v.x, noise.x));
    if (4u * i + 1u < p.columns) own = join(own, one(4u * i + 1u, v.y, noise.y));
    if (4u * i + 2u < p.columns) own = join(own, one(4u * i + 2u, v.z, noise.z));
    if (4u * i + 3u < p.columns) own = join(own, one(4u * i + 3u, v.w, noise.w));
  }
  part_key[lane] = own.key;
  part_score[lane] = own.score;
  part_max[lane] = own.most;
  part_sum[lane] = own.sum;
  part_id[lane] = own.id;
  barrier();
  for (uint s = LOCAL >> 1; s > 0u; s >>= 1) {
    if (lane < s) {
      uint o = lane + s;
      own = join(own, Part(part_key[o], part_score[o], part_max[o], part_sum[o], part_id[o]));
      part_key[lane] = own.key;
      part_score[lane] = own.score;
      part_max[lane] = own.most;
      part_sum[lane] = own.sum;
      part_id[lane] = own.id;
    }
    barrier();
  }
  float log_sum = own.most + log(max(own.sum, 1e-30));
  if (no_number(floatBitsToUint(own.sum))) log_sum = own.sum;  // max() may lose it
  if (lane == 0u)
    partials[partial_of(slice)] =
        uvec4(floatBitsToUint(own.key), own.id, floatBitsToUint(own.score), floatBitsToUint(log_sum));
}
#endif

void main() {
  uint g = group_index();
  if (g >= p.groups) return;
  const Slice slice = slice_of(g);
  if (!is_live(slice)) return;
#ifdef DRAW
  draw(slice);
#else
  uint lane = gl_LocalInvocationIndex;
  float best = MASKED, sum = 0.0;
  uint best_id = NO_ID;
  for (uint i = slice.begin + lane; i < slice.end; i += LOCAL) {
    vec4 v = x[slice.base + i];
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
    partials[partial_of(slice)] = uvec4(score, part_id[0], score, floatBitsToUint(part_sum[0]));
  }
#endif
}
