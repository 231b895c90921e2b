#version 450
// Weights of attention to one set of keys become those of one softmax over two (ops/attention/join_contexts.hpp): a
// workgroup takes a row of weights.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(std430, set = 0, binding = 0) buffer Weights { float weights[]; };
layout(std430, set = 0, binding = 1) readonly buffer Own { float own[]; };
layout(std430, set = 0, binding = 2) readonly buffer Other { float other[]; };
layout(push_constant) uniform P {
  uint groups;
  uint first_row;                               // of the weights
  uint heads, queries;                          // of a sentence
  uint sums;                                    // column of the first head's logarithm in a context
  uint weights_ld, ld;                          // row strides in words
  uint weights_begin, own_begin, other_begin;   // words: where row 0 would begin (may wrap)
} p;

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint row = p.first_row + group, query = row % p.queries, head = row / p.queries % p.heads;
  uint sentence = row / p.queries / p.heads, at = (sentence * p.queries + query) * p.ld + p.sums + 4u * head;
  vec2 sums = vec2(own[p.own_begin + at], other[p.other_begin + at]);
  vec2 parts = exp(sums - max(sums.x, sums.y));
  float share = parts.x / (parts.x + parts.y);
  uint from = p.weights_begin + row * p.weights_ld;
  for (uint c = gl_LocalInvocationID.x; c < p.weights_ld; c += LOCAL) weights[from + c] *= share;
}
