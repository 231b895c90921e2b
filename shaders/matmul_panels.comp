#version 450
// Matrix product in registers for CPU drivers, whose workgroup is one subgroup: an invocation takes one column group in
// each of EACH adjacent panels, and RM rows. Each panel is a separate stream of reads, since a single stream leaves
// such a processor waiting for memory; and with several rows, each number of x that is read serves that many more
// columns. A lane loads one row's part of x for all: one load per subgroup, where llvmpipe would test and branch for
// every number that all lanes read. Otherwise like matmul_rows.comp.
#extension GL_GOOGLE_include_directive : enable
#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_shader_subgroup_shuffle : enable
#include "common.glsl"
#define STRIPS
#define TEXELS_ID 6
#if FORM != 0
#define CELLS
#endif
#if defined(STEP) || defined(SPANS)
#define KV_FORMAT_ID 7
#endif
#include "matmul.glsl"
#include "products.glsl"
#include "register_rows.glsl"

layout(constant_id = 5) const uint EACH = 1;
const uint MOST = 8u;  // panels
const uint PARTS = (RM + LOCAL - 1u) / LOCAL;  // rows that a lane loads

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint tile, block;
  place(group, tile, block);
  uint lane = gl_SubgroupInvocationID;
  uint first = p.c_begin + block * LOCAL * EACH + lane;
  uint row = tile * RM;
  uint wi[MOST], xi[RM];  // only the first PARTS of xi and part are used
  vec4 sum[MOST][RM];
  [[unroll]] for (uint s = 0u; s < EACH; ++s)
    wi[s] = p.w_begin + packed_element4(min(first + s * LOCAL, p.c_end - 1u), 0u, p.panel4);
#ifdef CELLS
  uint cells[RM];
  for (uint i = 0u; i < PARTS; ++i) xi[i] = cell_of(row + (i * LOCAL + lane) % RM);
  for (uint i = 0u; i < RM; ++i) cells[i] = subgroupShuffle(xi[i / LOCAL], i % LOCAL);
#endif
  for (uint i = 0u; i < PARTS; ++i) xi[i] = p.x_begin + min(row + (i * LOCAL + lane) % RM, p.rows - 1u) * p.x_ld4;
  [[unroll]] for (uint s = 0u; s < EACH; ++s)
    for (uint i = 0u; i < RM; ++i) sum[s][i] = vec4(0.0);
  for (uint k = 0u; k < p.k4; ++k) {
    vec4 part[RM], v[RM];
    for (uint i = 0u; i < PARTS; ++i) part[i] = x[xi[i] + k];
    for (uint i = 0u; i < RM; ++i) v[i] = subgroupShuffle(part[i / LOCAL], i % LOCAL);
    [[unroll]] for (uint s = 0u; s < EACH; ++s) {
      vec4 four[4];
      load_four_w(w_at(wi[s], k), k, scales_at(wi[s], k), four);
      for (uint i = 0u; i < RM; ++i) sum[s][i] = add_products(sum[s][i], v[i], four[0], four[1], four[2], four[3]);
    }
  }
  [[unroll]] for (uint s = 0u; s < EACH; ++s) {
    uint c = first + s * LOCAL;
    if (c >= p.c_end) return;
    Columns columns = columns_of(c);
#ifdef CELLS
    for (uint i = 0u; i < RM; ++i) finish(row + i, columns, sum[s][i], cells[i]);
#else
    for (uint i = 0u; i < RM; ++i) finish(row + i, columns, sum[s][i]);
#endif
  }
}
