#version 450
// Matrix product for few rows: a workgroup takes GROUPS column groups and RM rows and splits the depth among its
// invocations; the parts are added up in shared memory. NORM: it normalizes its rows first. The plain form can also
// gate them.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#ifdef NORM
#define KV_FORMAT_ID 7
#else
#define KV_FORMAT_ID 6
#endif
#define BESIDE
#include "matmul.glsl"

// Rows per workgroup, plus 64 if it may have four times as many invocations: SIZE:VALUE in table.inc, patched into the
// words of the one module that all variants share (src/ops/core/shader_code.cpp).
layout(constant_id = 31) const uint SIZE = 1;
const uint DEEP = SIZE / 64u, RM = SIZE - 64u * DEEP;

layout(constant_id = 5) const uint GROUPS = 8;
#if FORM == 0 && !defined(NORM)
layout(constant_id = 6) const uint ROW_GATE = 0;  // 1 + the activation that gates one half of x by the other
#endif
// Keeps at least two loads of weights in flight: with narrow formats one load covers the depths of a turn or two. With
// more than one row there are enough loads anyway.
const uint AHEAD = RM != 1u || W_FORMAT == FORMAT_FP32 ? 1u : 2u;
const uint ROW_PARTS = 64u + 192u * DEEP;  // maximum invocations; four times as many with a single row
shared vec4 part[4u * ROW_PARTS];

// Row r of the slice, or its last one.
uint x_row(const uint r) { return p.x_begin + min(r, p.rows - 1u) * p.x_ld4; }
#ifdef NORM
#include "norm_prologue.glsl"
#endif

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint tile, block;
  place(group, tile, block);
  uint l = gl_LocalInvocationIndex, tx = l % GROUPS, s = l / GROUPS, split = LOCAL / GROUPS;
  uint row = tile * RM, own = p.c_begin + block * GROUPS + tx, c = min(own, p.c_end - 1u);
  uint wi = p.w_begin + packed_element4(c, 0u, p.panel4);
#ifdef NORM
  Rows rows = measure(l, row);
  if (block == 0u && p.writes_h != 0u) write_rows(l, row, rows);
#endif
  // Loaded before the weights, so that it arrives with them.
  vec4 start = beside(s < RM ? row + s : p.rows, c);
  vec4 sum[RM];
  for (uint i = 0u; i < RM; ++i) sum[i] = vec4(0.0);
  for (uint first = s; first < p.k4; first += split * AHEAD) {
    [[unroll]] for (uint a = 0u; a < AHEAD; ++a) {
      uint k = min(first + a * split, p.k4 - 1u);
      float counts = first + a * split < p.k4 ? 1.0 : 0.0;  // no branch, since loads would wait behind it
      uint at = w_at(wi, k);
      uvec4 scales = scales_at(wi, k);
      vec4 w0 = load_w(at, k, 0u, scales), w1 = load_w(at, k, 1u, scales);
      vec4 w2 = load_w(at, k, 2u, scales), w3 = load_w(at, k, 3u, scales);
#ifdef NORM
      vec4 weight = norm_weight(k), bias = norm_bias(k);
#endif
      for (uint i = 0u; i < RM; ++i) {
        vec4 v = x[x_row(row + i) + k];
#ifdef NORM
        v = normal(rows, i, v, weight, bias);
#elif FORM == 0
        if (ROW_GATE != 0u) v = activate(v, ROW_GATE - 1u) * x[x_row(row + i) + p.x_ld4 / 2u + k];
#endif
        v *= counts;
        sum[i] += v.x * w0 + v.y * w1 + v.z * w2 + v.w * w3;
      }
    }
  }
#ifdef NORM
  barrier();  // others may still be reading the sums of rows
#endif
  for (uint i = 0u; i < RM; ++i) part[i * ROW_PARTS + l] = sum[i];
  barrier();
  // Two turns, since an invocation waits for each part that it adds. An output gets as many helpers as invocations
  // allow, eight at most.
  const uint outputs = RM * GROUPS, helpers = min(8u, LOCAL / outputs);
  uint output_row = l / GROUPS % RM, helper = l / outputs;
  if (helper < helpers) {
    uint begin = output_row * ROW_PARTS + tx;
    vec4 mine = vec4(0.0);
    [[dont_unroll]] for (uint t = helper; t < split; t += helpers) mine += part[begin + t * GROUPS];
    part[begin + helper * GROUPS] = mine;
  }
  barrier();
  if (s >= RM || own >= p.c_end) return;
  vec4 total = start;
  [[unroll]] for (uint i = 0u; i < 8u; ++i)
    if (i < helpers) total += part[s * ROW_PARTS + i * GROUPS + tx];
  finish(row + s, columns_of(c), total);
}
