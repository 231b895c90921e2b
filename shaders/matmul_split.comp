#version 450
// Matrix product for few rows: a workgroup takes eight column groups and RM rows and splits the depth among its
// invocations; the parts are added up in shared memory.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "matmul.glsl"

const uint GROUPS = 8u, SPLIT = 8u;  // 64 invocations
shared vec4 part[RM][GROUPS * SPLIT];

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint tile, block;
  place(group, tile, block);
  uint l = gl_LocalInvocationIndex, tx = l % GROUPS, s = l / GROUPS;
  uint row = tile * uint(RM), own = p.c_begin + block * GROUPS + tx, c = min(own, p.c_end - 1u);
  uint wi = p.w_begin + packed_element4(c, 0u, p.panel4);
  vec4 sum[RM];
  for (uint i = 0u; i < uint(RM); ++i) sum[i] = vec4(0.0);
  for (uint k = s; k < p.k4; k += LOCAL / GROUPS) {
    uint at = w_at(wi, k);
    uvec4 scales = scales_at(wi, k);
    vec4 w0 = load_w(at, k, 0u, scales), w1 = load_w(at, k, 1u, scales);
    vec4 w2 = load_w(at, k, 2u, scales), w3 = load_w(at, k, 3u, scales);
    for (uint i = 0u; i < uint(RM); ++i) {
      vec4 v = x[p.x_begin + min(row + i, p.rows - 1u) * p.x_ld4 + k];
      sum[i] += v.x * w0 + v.y * w1 + v.z * w2 + v.w * w3;
    }
  }
  for (uint i = 0u; i < uint(RM); ++i) part[i][l] = sum[i];
  barrier();
  if (s >= uint(RM) || own >= p.c_end) return;
  vec4 total = vec4(0.0);
  for (uint t = 0u; t < LOCAL / GROUPS; ++t) total += part[s][t * GROUPS + tx];
  finish(row + s, columns_of(c), total);
}
