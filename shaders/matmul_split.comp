#version 450
// Matrix product for few rows: a workgroup takes GROUPS column groups and RM rows and splits the depth among its
// invocations; the parts are added up in shared memory.
#extension GL_GOOGLE_include_directive : enable
#extension GL_EXT_control_flow_attributes : enable
#include "common.glsl"
#include "matmul.glsl"

layout(constant_id = 5) const uint GROUPS = 8;
#if RM == 1
const uint MOST = 128u;  // invocations
// At least two loads of weights are under way: of narrow formats one brings the depths of a turn or two.
const uint AHEAD = W_FORMAT == FORMAT_FP32 ? 1u : 2u;
#else
const uint MOST = 64u;
const uint AHEAD = 1u;  // rows are loads enough
#endif
shared vec4 part[RM][MOST];

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint tile, block;
  place(group, tile, block);
  uint l = gl_LocalInvocationIndex, tx = l % GROUPS, s = l / GROUPS, split = LOCAL / GROUPS;
  uint row = tile * uint(RM), own = p.c_begin + block * GROUPS + tx, c = min(own, p.c_end - 1u);
  uint wi = p.w_begin + packed_element4(c, 0u, p.panel4);
  vec4 sum[RM];
  for (uint i = 0u; i < uint(RM); ++i) sum[i] = vec4(0.0);
  for (uint first = s; first < p.k4; first += split * AHEAD) {
    [[unroll]] for (uint a = 0u; a < AHEAD; ++a) {
      uint k = min(first + a * split, p.k4 - 1u);
      float counts = first + a * split < p.k4 ? 1.0 : 0.0;  // no branch, behind which loads would wait
      uint at = w_at(wi, k);
      uvec4 scales = scales_at(wi, k);
      vec4 w0 = load_w(at, k, 0u, scales), w1 = load_w(at, k, 1u, scales);
      vec4 w2 = load_w(at, k, 2u, scales), w3 = load_w(at, k, 3u, scales);
      for (uint i = 0u; i < uint(RM); ++i) {
        vec4 v = counts * x[p.x_begin + min(row + i, p.rows - 1u) * p.x_ld4 + k];
        sum[i] += v.x * w0 + v.y * w1 + v.z * w2 + v.w * w3;
      }
    }
  }
  for (uint i = 0u; i < uint(RM); ++i) part[i][l] = sum[i];
  barrier();
  if (s >= uint(RM) || own >= p.c_end) return;
  vec4 total = vec4(0.0);
  // Four at a time: all at once would take more registers than the sums before.
  [[dont_unroll]] for (uint first = 0u; first < split; first += 4u)
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
      uint t = min(first + i, split - 1u);
      total += first + i < split ? part[s][t * GROUPS + tx] : vec4(0.0);
    }
  finish(row + s, columns_of(c), total);
}
