#version 450
// Log-softmax of rows in place. Stage 0: maximum and sum of exponentials per row and slice of the columns; stage 1:
// joins the slices of its row and applies the result. One workgroup per slice, so that a few rows of a large vocabulary
// fill a device.
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#include "common.glsl"
#include "state.glsl"
#include "search.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
#if STAGE == 0
layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Partials { vec2 partials[]; };  // [rows][slices]
#else
layout(std430, set = 0, binding = 0) buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Partials { vec2 partials[]; };
#endif
layout(push_constant) uniform P {
  uint groups;
  uint columns, ld4;        // columns; vec4s per row
  uint slice4, slices;      // vec4s per slice; slices per row
  uint x_begin4, out_begin, out_ld;  // vec4s; pairs; pairs per row
  uint first_row;
} p;
#include "slices.glsl"
#include "log_sum.glsl"
#if STAGE == 0
shared vec2 part[128];

void write_part(const Slice slice, vec2 value) {
  uint at = p.out_begin + slice.row * p.out_ld;
  partials[at + slice.number] = value;
  if (slice.number + 1u == p.slices && p.slices < p.out_ld) partials[at + p.slices] = vec2(0.0);  // the padding
}
#endif

void main() {
  uint g = group_index();
  if (g >= p.groups) return;
  const Slice slice = slice_of(g);
  if (!is_live(slice)) return;
  uint lane = gl_LocalInvocationIndex;
#if STAGE == 0
  vec2 own = vec2(MASKED, 0.0);
  for (uint i = slice.begin + lane; i < slice.end; i += LOCAL) {
    vec4 v = max(x[slice.base + i], vec4(MASKED));
    uvec4 column = uvec4(4u * i) + uvec4(0, 1, 2, 3);
    bvec4 inside = lessThan(column, uvec4(p.columns));
    v = mix(vec4(MASKED), v, inside);
    float m = max(own.x, max(max(v.x, v.y), max(v.z, v.w)));
    vec4 e = mix(vec4(0.0), exp(v - m), inside);
    own = vec2(m, own.y * exp(own.x - m) + e.x + e.y + e.z + e.w);
  }
  part[lane] = own;
  barrier();
  for (uint s = LOCAL >> 1; s > 0u; s >>= 1) {
    if (lane < s) part[lane] = join(part[lane], part[lane + s]);
    barrier();
  }
  if (lane == 0u) write_part(slice, part[0]);
#else
  const vec2 all = whole_row(p.out_begin + slice.row * p.out_ld, p.slices);
  for (uint i = slice.begin + lane; i < slice.end; i += LOCAL)
    x[slice.base + i] = log_probabilities(x[slice.base + i], all, i, p.columns);
#endif
}
