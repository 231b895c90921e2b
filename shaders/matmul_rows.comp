#version 450
// Matrix product in registers, without shared memory or barriers: lanes run along groups of four columns, and an
// invocation keeps RM rows. The address of x is the same for the whole workgroup.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "matmul.glsl"
#include "products.glsl"
#include "register_rows.glsl"

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint tile, block;
  place(group, tile, block);
  uint c = p.c_begin + block * LOCAL + gl_LocalInvocationID.x;
  if (c >= p.c_end) return;
  uint row = tile * RM;
  uint wi = p.w_begin + packed_element4(c, 0u, p.panel4);
  uint xi[RM];
  vec4 sum[RM];
  for (uint i = 0u; i < RM; ++i) {
    xi[i] = p.x_begin + min(row + i, p.rows - 1u) * p.x_ld4;
    sum[i] = vec4(0.0);
  }
  uvec4 s = uvec4(0u);
  for (uint k = 0u; k < p.k4; ++k) {
    if (begins_scales(k)) s = scales_at(wi, k);
    uint at = w_at(wi, k);
    vec4 w0 = load_w(at, k, 0u, s), w1 = load_w(at, k, 1u, s), w2 = load_w(at, k, 2u, s), w3 = load_w(at, k, 3u, s);
    for (uint i = 0u; i < RM; ++i) {
      vec4 v = x[xi[i] + k];
      sum[i] = add_products(sum[i], v, w0, w1, w2, w3);
    }
  }
  Columns columns = columns_of(c);
  for (uint i = 0u; i < RM; ++i) finish(row + i, columns, sum[i]);
}
