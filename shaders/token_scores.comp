#version 450
// For each row of logits the logarithm of the probability of one id: the one behind the row's own in `ids`. One
// workgroup a row.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "state.glsl"
#define STAGE 0
#include "log_sum.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Ids { uint ids[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Scores { vec4 scores[]; };  // in the first number
layout(push_constant) uniform P {
  uint groups;
  uint columns, ld4;               // columns; vec4s per row
  uint x_begin4, scores_begin4;    // vec4s
  uint first_id, id_count;         // where the row's id is, of the first row; words of `ids`
} p;

shared vec2 part[128];

// Maximum and sum of exponentials of a vec4 of the row.
vec2 part_of(const vec4 v, const uint i) {
  bvec4 inside = lessThan(uvec4(4u * i) + uvec4(0, 1, 2, 3), uvec4(p.columns));
  vec4 known = mix(vec4(MASKED), max(v, vec4(MASKED)), inside);
  float most = max(max(known.x, known.y), max(known.z, known.w));
  vec4 e = mix(vec4(0.0), exp(v - most), inside);
  return vec2(most, e.x + e.y + e.z + e.w);
}

void main() {
  uint row = group_index(), lane = gl_LocalInvocationIndex;
  if (row >= p.groups) return;
  uint base = p.x_begin4 + row * p.ld4;
  vec2 own = vec2(MASKED, 0.0);
  for (uint i = lane; 4u * i < p.columns; i += LOCAL) own = join(own, part_of(x[base + i], i));
  part[lane] = own;
  barrier();
  for (uint s = LOCAL >> 1; s > 0u; s >>= 1) {
    if (lane < s) part[lane] = join(part[lane], part[lane + s]);
    barrier();
  }
  if (lane != 0u) return;
  uint at = p.first_id + row, id = ids[min(at, p.id_count - 1u)];
  float score = 0.0;
  if (at < p.id_count && id < p.columns) score = x[base + id / 4u][id % 4u] - part[0].x - log(part[0].y);
  scores[p.scores_begin4 + row] = vec4(score, 0.0, 0.0, 0.0);
}
