#version 450
// Matrix product with tiles in shared memory: 64 invocations compute 32 rows by 64 columns, 16 deep at a time.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "matmul.glsl"

const uint ROWS = 32u, GROUPS = 16u, DEPTH4 = 4u;  // rows, column groups and vec4 of depth of a tile
const uint OWN = 8u;                               // rows of an invocation
shared vec4 x_tile[ROWS * DEPTH4];
shared vec4 w_tile[4u * DEPTH4 * GROUPS];

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint tile, block;
  place(group, tile, block);
  uint l = gl_LocalInvocationIndex, tx = l % GROUPS, ty = l / GROUPS;
  uint row = tile * ROWS, first = p.c_begin + block * GROUPS;
  // What this invocation loads: two vec4 of x, and four rows of one column group of W.
  uint c_load = min(first + tx, p.c_end - 1u);
  uint w_load = p.w_begin + packed_element4(c_load, 0u, p.panel4);
  vec4 sum[OWN];
  for (uint i = 0u; i < OWN; ++i) sum[i] = vec4(0.0);
  for (uint k = 0u; k < p.k4; k += DEPTH4) {
    for (uint t = l; t < ROWS * DEPTH4; t += LOCAL) {
      uint r = min(row + t / DEPTH4, p.rows - 1u), d = k + t % DEPTH4;
      x_tile[t] = d < p.k4 ? x[p.x_begin + r * p.x_ld4 + d] : vec4(0.0);
    }
    for (uint t = ty; t < 4u * DEPTH4; t += LOCAL / GROUPS) {
      uint d = min(4u * k + t, 4u * p.k4 - 1u);
      w_tile[t * GROUPS + tx] = load_w(w_at(w_load, d / 4u), d / 4u, d % 4u, scales_at(w_load, d / 4u));
    }
    barrier();
    for (uint d = 0u; d < DEPTH4; ++d) {
      vec4 w0 = w_tile[(4u * d) * GROUPS + tx], w1 = w_tile[(4u * d + 1u) * GROUPS + tx];
      vec4 w2 = w_tile[(4u * d + 2u) * GROUPS + tx], w3 = w_tile[(4u * d + 3u) * GROUPS + tx];
      for (uint i = 0u; i < OWN; ++i) {
        vec4 v = x_tile[(ty * OWN + i) * DEPTH4 + d];
        sum[i] += v.x * w0 + v.y * w1 + v.z * w2 + v.w * w3;
      }
    }
    barrier();
  }
  uint c = first + tx;
  if (c >= p.c_end) return;
  Columns columns = columns_of(c);
  for (uint i = 0u; i < OWN; ++i) finish(row + ty * OWN + i, columns, sum[i]);
}
