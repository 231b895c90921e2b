#version 450
// Matrix product in registers on CPU drivers: an invocation takes a column group of each of EACH panels that lie side by
// side, and RM rows. Each panel is a stream of reads of its own, where one alone leaves such a processor waiting for memory;
// and of several rows a number of x that is read once serves as many columns. Otherwise as matmul_rows.comp.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#if defined(STEP) || defined(SPANS)
#define KV_FORMAT_ID 6
#endif
#include "matmul.glsl"
#include "products.glsl"
#include "register_rows.glsl"

layout(constant_id = 5) const uint EACH = 1;
const uint MOST = 8u;  // panels

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint tile, block;
  place(group, tile, block);
  uint first = p.c_begin + block * LOCAL * EACH + gl_LocalInvocationID.x;
  uint row = tile * RM;
  uint wi[MOST], xi[RM];
  vec4 sum[MOST][RM];
  [[unroll]] for (uint s = 0u; s < EACH; ++s)
    wi[s] = p.w_begin + packed_element4(min(first + s * LOCAL, p.c_end - 1u), 0u, p.panel4);
  for (uint i = 0u; i < RM; ++i) xi[i] = p.x_begin + min(row + i, p.rows - 1u) * p.x_ld4;
  [[unroll]] for (uint s = 0u; s < EACH; ++s)
    for (uint i = 0u; i < RM; ++i) sum[s][i] = vec4(0.0);
  for (uint k = 0u; k < p.k4; ++k) {
    vec4 v[RM];
    for (uint i = 0u; i < RM; ++i) v[i] = x[xi[i] + k];
    [[unroll]] for (uint s = 0u; s < EACH; ++s) {
      uint at = w_at(wi[s], k);
      uvec4 scales = scales_at(wi[s], k);
      vec4 w0 = load_w(at, k, 0u, scales), w1 = load_w(at, k, 1u, scales), w2 = load_w(at, k, 2u, scales), w3 = load_w(at, k, 3u, scales);
      for (uint i = 0u; i < RM; ++i)
        sum[s][i] = add_products(sum[s][i], v[i], w0, w1, w2, w3);
    }
  }
  [[unroll]] for (uint s = 0u; s < EACH; ++s) {
    uint c = first + s * LOCAL;
    if (c >= p.c_end) return;
    Columns columns = columns_of(c);
    for (uint i = 0u; i < RM; ++i) finish(row + i, columns, sum[s][i]);
  }
}
