#version 450
// Products with the columns that count, four at a time (ops/products/listed_product.hpp). -DFILL, which runs first: their
// biases, and MASKED in all other columns; then an invocation takes a panel for a row and adds the sums of its listed
// groups, so that no other column of the weight is read.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "state.glsl"
#include "weight.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(constant_id = 1) const uint W_FORMAT = 0;
#ifdef FILL
layout(std430, set = 0, binding = 0) readonly buffer Bias { float bias[]; };
layout(std430, set = 0, binding = 1) readonly buffer Masks { uint masks[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Y { vec4 y[]; };
#else
layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) readonly buffer W { uvec4 w[]; };
layout(std430, set = 0, binding = 2) readonly buffer Masks { uint masks[]; };
layout(std430, set = 0, binding = 3) buffer Y { vec4 y[]; };
#endif
layout(push_constant) uniform P {
  uint groups;
  uint blocks;                  // workgroups a row
  uint first_panel, end_panel;  // FILL: vec4s of y
  uint k4, x_begin, x_ld4;      // vec4s
  uint w_begin, panel4;         // uvec4s; FILL: where the bias begins
  uint masks_begin, masks_ld;
  uint y_begin, y_ld4;          // vec4s
  uint columns;
} p;

#ifdef FILL
void main() {
  uint group = group_index(), row = group / p.blocks;
  if (group >= p.groups) return;
  for (uint i = 0u; i < 8u; ++i) {
    uint c4 = (group % p.blocks * 8u + i) * LOCAL + gl_LocalInvocationIndex;
    if (c4 >= p.y_ld4) return;
    uint bits = masks[p.masks_begin + row * p.masks_ld + c4 / PANEL4] >> 4u * (c4 % PANEL4);
    vec4 v = vec4(0.0);
    for (uint j = 0u; j < 4u; ++j)
      if (4u * c4 + j < p.columns) v[j] = (bits >> j & 1u) != 0u ? bias[p.w_begin + 4u * c4 + j] : MASKED;
    y[p.y_begin + row * p.y_ld4 + c4] = v;
  }
}
#else
// The sums of one group of columns, whose words begin at `at`.
vec4 sums_of(const uint at, const uint xi) {
  vec4 sum = vec4(0.0);
  uvec4 scales = uvec4(0u);
  for (uint k = 0u; k < p.k4; ++k) {
    if (has_scales(W_FORMAT) && k % (BLOCK / 4u) == 0u) scales = w[at + granule_row(W_FORMAT, 4u * k) * PANEL4];
    vec4 v = x[xi + k];
    uint row = at + depth_row(W_FORMAT, 4u * k) * PANEL4;
    [[unroll]] for (uint depth = 0u; depth < 4u; ++depth)
      sum += v[depth] * weights_of(W_FORMAT, w[row + depth / depths_a_word(W_FORMAT) * PANEL4], scales, 4u * k + depth);
  }
  return sum;
}

void main() {
  uint group = group_index(), row = group / p.blocks;
  uint panel = p.first_panel + group % p.blocks * LOCAL + gl_LocalInvocationIndex;
  if (group >= p.groups || panel >= p.end_panel) return;
  uint listed = masks[p.masks_begin + row * p.masks_ld + panel], xi = p.x_begin + row * p.x_ld4;
  while (listed != 0u) {
    uint part = uint(findLSB(listed)) / 4u, bits = listed >> 4u * part & 15u, c4 = panel * PANEL4 + part;
    listed &= ~(15u << 4u * part);
    if (c4 >= p.y_ld4) return;
    vec4 sum = sums_of(p.w_begin + (panel - p.first_panel) * p.panel4 + part, xi);
    bvec4 counts = notEqual(uvec4(bits) & uvec4(1, 2, 4, 8), uvec4(0u));
    y[p.y_begin + row * p.y_ld4 + c4] += mix(vec4(0.0), sum, counts);
  }
}
#endif
