#version 450
// Matrix product in registers whose workgroup is one subgroup: each lane loads a different part of the rows of x, and
// the lanes pass the parts around. Otherwise like matmul_rows.comp.
#extension GL_GOOGLE_include_directive : enable
#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_shader_subgroup_shuffle : enable
#include "common.glsl"
#include "matmul.glsl"
#include "products.glsl"
#include "register_rows.glsl"

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint tile, block;
  place(group, tile, block);
  uint lane = gl_SubgroupInvocationID;
  uint own = p.c_begin + block * LOCAL + lane, c = min(own, p.c_end - 1u);  // no lane returns: others need its part
  uint row = tile * RM;
  uint wi = p.w_begin + packed_element4(c, 0u, p.panel4);
  uint xi[RM];
  vec4 sum[RM], part[RM];
  for (uint i = 0u; i < RM; ++i) {
    xi[i] = p.x_begin + min(row + i, p.rows - 1u) * p.x_ld4;
    sum[i] = vec4(0.0);
  }
  for (uint base = 0u; base < p.k4; base += LOCAL) {
    uint at = min(base + lane, p.k4 - 1u), n = min(LOCAL, p.k4 - base);
    for (uint i = 0u; i < RM; ++i) part[i] = x[xi[i] + at];
    // Two loops, where matmul_rows.comp has one: one loop was slower on lavapipe with few rows
    // (docs/decisions/scales-in-loops.md).
    for (uint k = 0u; k < n;) {
      uvec4 s = scales_at(wi, base + k);
      for (uint end = min(n, k + sharing_from(base + k)); k < end; ++k) {
        uint wk = w_at(wi, base + k);
        vec4 w0 = load_w(wk, base + k, 0u, s), w1 = load_w(wk, base + k, 1u, s);
        vec4 w2 = load_w(wk, base + k, 2u, s), w3 = load_w(wk, base + k, 3u, s);
        for (uint i = 0u; i < RM; ++i) {
          vec4 v = subgroupShuffle(part[i], k);
          sum[i] = add_products(sum[i], v, w0, w1, w2, w3);
        }
      }
    }
  }
  if (own >= p.c_end) return;
  Columns columns = columns_of(c);
  for (uint i = 0u; i < RM; ++i) finish(row + i, columns, sum[i]);
}
