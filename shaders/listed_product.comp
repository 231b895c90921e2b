#version 450
// Products with the columns that count, four at a time (ops/products/listed_product.hpp). -DFILL, which runs first: their
// biases, and MASKED in all other columns; then a workgroup takes PANELS panels for a row, gathers their listed groups and
// shares these out, so that no invocation idles behind one with a longer list, and no other column of the weight is read.
// -DTEXELS, for CPU drivers, whose workgroup is one subgroup: the weight is read as texels, and a lane loads one part of
// the row for all.
#extension GL_GOOGLE_include_directive : enable
#ifdef TEXELS
#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_shader_subgroup_shuffle : enable
#endif
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
#ifdef TEXELS
layout(set = 0, binding = 10, rgba32ui) readonly uniform uimageBuffer w_texels;
uvec4 words_of_w(const uint at) { return imageLoad(w_texels, int(at)); }
#else
layout(std430, set = 0, binding = 1) readonly buffer W { uvec4 w[]; };
uvec4 words_of_w(const uint at) { return w[at]; }
#endif
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
    uint bits = masks[p.masks_begin + row * p.masks_ld + c4 / PANEL4] >> 4u * (c4 % PANEL4) & 15u;
    vec4 v = mix(vec4(MASKED), vec4(0.0), greaterThanEqual(4u * c4 + uvec4(0, 1, 2, 3), uvec4(p.columns)));
    if (bits != 0u)  // seldom: no bias is loaded elsewhere
      for (uint j = 0u; j < 4u; ++j)
        if ((bits >> j & 1u) != 0u && 4u * c4 + j < p.columns) v[j] = bias[p.w_begin + 4u * c4 + j];
    y[p.y_begin + row * p.y_ld4 + c4] = v;
  }
}
#else
const uint PANELS = 64u;  // of a workgroup; listed_product.cpp has it as well
shared uint listed_groups[PANELS * PANEL4];
shared uint listed_count;

vec4 add_depths(vec4 sum, const uint at, const uint k, const vec4 v, const uvec4 scales) {
  uint row = at + depth_row(W_FORMAT, 4u * k) * PANEL4;
  [[unroll]] for (uint depth = 0u; depth < 4u; ++depth)
    sum += v[depth] *
           weights_of(W_FORMAT, words_of_w(row + depth / depths_a_word(W_FORMAT) * PANEL4), scales, 4u * k + depth);
  return sum;
}

uvec4 scales_at(const uint at, const uint k) {
  return has_scales(W_FORMAT) ? words_of_w(at + granule_row(W_FORMAT, 4u * k) * PANEL4) : uvec4(0u);
}

// The sums of one group of columns, whose words begin at `at`. All invocations take part.
vec4 sums_of(const uint at, const uint xi) {
  const uint STEPS = BLOCK / 4u;  // that share scales
  vec4 sum = vec4(0.0);
  for (uint first = 0u; first < p.k4; first += STEPS) {
    uvec4 scales = scales_at(at, first);
#ifdef TEXELS
    vec4 part[STEPS];  // only the first STEPS / LOCAL are used
    for (uint i = 0u; i * LOCAL < STEPS; ++i)
      part[i] = x[xi + min(first + i * LOCAL + gl_SubgroupInvocationID % STEPS, p.k4 - 1u)];
    [[unroll]] for (uint step = 0u; step < STEPS; ++step) {
      uint k = first + step;
      vec4 v = k < p.k4 ? subgroupShuffle(part[step / LOCAL], step % LOCAL) : vec4(0.0);
      sum = add_depths(sum, at, min(k, p.k4 - 1u), v, scales);
    }
#else
    for (uint k = first; k < min(first + STEPS, p.k4); ++k) sum = add_depths(sum, at, k, x[xi + k], scales);
#endif
  }
  return sum;
}

void list_panel(const uint panel, uint listed) {
  while (listed != 0u) {
    uint part = uint(findLSB(listed)) / 4u, c4 = panel * PANEL4 + part;
    listed &= ~(15u << 4u * part);
    if (c4 < p.y_ld4) listed_groups[atomicAdd(listed_count, 1u)] = c4;
  }
}

void main() {
  uint group = group_index(), row = group / p.blocks;
  if (group >= p.groups) return;
  uint first = p.first_panel + group % p.blocks * PANELS, end = min(first + PANELS, p.end_panel);
  uint mask = p.masks_begin + row * p.masks_ld;
  if (gl_LocalInvocationIndex == 0u) listed_count = 0u;
  barrier();
  for (uint panel = first + gl_LocalInvocationIndex; panel < end; panel += LOCAL) list_panel(panel, masks[mask + panel]);
  barrier();
  uint count = listed_count;
  for (uint i = 0u; i < count; i += LOCAL) {
    uint own = i + gl_LocalInvocationIndex, c4 = listed_groups[min(own, count - 1u)], panel = c4 / PANEL4;
    vec4 sum = sums_of(p.w_begin + (panel - p.first_panel) * p.panel4 + c4 % PANEL4, p.x_begin + row * p.x_ld4);
    uint bits = masks[mask + panel] >> 4u * (c4 % PANEL4) & 15u;
    bvec4 counts = notEqual(uvec4(bits) & uvec4(1, 2, 4, 8), uvec4(0u));
    if (own < count) y[p.y_begin + row * p.y_ld4 + c4] += mix(vec4(0.0), sum, counts);
  }
}
#endif
