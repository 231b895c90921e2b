#version 450
// Divides the sums that attention_part.comp made over all parts, or attention.comp over each chunk of the keys, by the
// sum of the weights: the result is the context. A workgroup takes one row and head; chunks are combined in order, as
// attention.comp does when it has all of them. Macros: VEC (head size a multiple of 4).
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#include "common.glsl"
#include "state.glsl"
#include "head_columns.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(constant_id = 1) const uint HEAD_DIM = 64;

layout(std430, set = 0, binding = 0) readonly buffer Running { T running[]; };  // [heads][rows][chunks]
layout(std430, set = 0, binding = 1) writeonly buffer Out { T context[]; };

layout(push_constant) uniform P {
  uint groups;
  uint all_heads;
  uint heads, head_begin;  // of the slice
  uint rows;
  uint running_begin;      // words: where row 0 of head 0 would begin (may wrap)
  uint running_ld, out_ld; // words from chunk to chunk, and from row to row
  uint chunks;
} p;
#include "log_sums.glsl"

const uint PARTS = HEAD_DIM / WIDTH;
const uint LAST = (HEAD_DIM + 3u) / 4u * 4u / WIDTH;

#ifdef VEC
float top_of(uint at) { return running[at + LAST].x; }
float sum_of(uint at) { return running[at + LAST].y; }
#else
float top_of(uint at) { return running[at + LAST]; }
float sum_of(uint at) { return running[at + LAST + 1u]; }
#endif

void main() {
  uint group = group_index(), lane = gl_LocalInvocationID.x;
  if (group >= p.groups) return;
  uint row = group / p.heads, head = p.head_begin + group % p.heads;
  if (row >= step_word(STEP_LIVE)) return;
  uint from = (p.running_begin + (head * p.rows + row) * p.chunks * p.running_ld) / WIDTH;
  uint to = (row * p.out_ld + head * HEAD_DIM) / WIDTH;
  for (uint i = lane; i < PARTS; i += LOCAL) {
    T acc = T(0.0);
    float top = MASKED, sum = 0.0;
    for (uint c = 0u; c < p.chunks; ++c) {
      uint at = from + c * (p.running_ld / WIDTH);
      float highest = top_of(at), now = max(top, highest), shrink = exp(top - now), grow = exp(highest - now);
      top = now;
      sum = sum * shrink + sum_of(at) * grow;
      acc = acc * shrink + running[at + i] * grow;
    }
    context[to + i] = acc * (sum > 0.0 ? 1.0 / sum : 0.0);
    if (i == 0u) put_log_sum(row * p.out_ld, head, top, sum);
  }
#ifndef VEC
  // The padding after the last head.
  if (head + 1u == p.all_heads && lane < padding_of_context()) context[to + HEAD_DIM + lane] = 0.0;
#endif
}
