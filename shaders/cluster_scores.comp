#version 450
// Scores of the ids of a cluster (ops/rows/cluster_scores.hpp); one workgroup per row. TAIL: not the first cluster.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "state.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Y { float y[]; };
#ifdef TAIL
layout(std430, set = 0, binding = 2) readonly buffer Head { vec4 head[]; };
#endif
layout(push_constant) uniform P {
  uint groups;
  uint ids, x_cols, head_cols;      // ids of the cluster; columns of x and of the head
  uint x_ld4, head_ld4, y_ld;       // row strides: vec4s, vec4s, words
  uint x_begin4, head_begin4, y_begin;
  uint first, entry;                // the column of the first id; the head's column for the cluster
  uint y_end;                       // where the cluster's columns end, the padding behind the last one's included
} p;
#define STAGE 0  // only join()
#include "log_sum.glsl"
shared vec2 part[128];

// Maximum and sum of exponentials of what all lanes have.
vec2 joined(const vec2 own) {
  uint lane = gl_LocalInvocationIndex;
  part[lane] = own;
  barrier();
  for (uint s = LOCAL >> 1; s > 0u; s >>= 1) {
    if (lane < s) part[lane] = join(part[lane], part[lane + s]);
    barrier();
  }
  vec2 all = part[0];
  barrier();
  return all;
}

// A vector more in maximum and sum; columns from `cols` on do not count.
vec2 with(const vec2 own, const vec4 values, const uint column, const uint cols) {
  bvec4 inside = lessThan(uvec4(column) + uvec4(0, 1, 2, 3), uvec4(cols));
  vec4 v = mix(vec4(MASKED), values, inside);
  float m = max(own.x, max(max(v.x, v.y), max(v.z, v.w)));
  vec4 e = mix(vec4(0.0), exp(v - m), inside);
  return vec2(m, own.y * exp(own.x - m) + e.x + e.y + e.z + e.w);
}

void main() {
  uint row = group_index(), lane = gl_LocalInvocationIndex;
  if (row >= p.groups) return;
  uint base = p.x_begin4 + row * p.x_ld4;
  vec2 own = vec2(MASKED, 0.0);
  for (uint i = lane; 4u * i < p.x_cols; i += LOCAL) own = with(own, x[base + i], 4u * i, p.x_cols);
  own = joined(own);
  float most = own.x, rest = log(own.y);
#ifdef TAIL
  uint head_base = p.head_begin4 + row * p.head_ld4;
  vec2 of_head = vec2(MASKED, 0.0);
  for (uint i = lane; 4u * i < p.head_cols; i += LOCAL)
    of_head = with(of_head, head[head_base + i], 4u * i, p.head_cols);
  of_head = joined(of_head);
  float entry = head[head_base + p.entry / 4u][p.entry % 4u];
  rest += log(of_head.y) - (entry - of_head.x);
#endif
  uint to = p.y_begin + row * p.y_ld + p.first;
  for (uint i = lane; p.first + i < p.y_end; i += LOCAL)
    y[to + i] = i < p.ids ? x[base + i / 4u][i % 4u] - most - rest : 0.0;
}
