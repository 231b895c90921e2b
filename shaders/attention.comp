#version 450
// Attention over whole sequences: one workgroup a (sentence, head, query), keys in chunks of one a lane, online softmax
// with a finite start. -DVEC: head sizes that are multiples of 4. -DWEIGHTS: writes the weights too, in a second pass.
#extension GL_GOOGLE_include_directive : enable
#define USE_LENGTHS
#include "common.glsl"
#include "state.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(constant_id = 1) const uint HEAD = 64;
layout(std430, set = 0, binding = 0) readonly buffer Q { float q[]; };
#ifdef VEC
layout(std430, set = 0, binding = 1) readonly buffer KV { vec4 kv[]; };
#else
layout(std430, set = 0, binding = 1) readonly buffer KV { float kv[]; };
#endif
layout(std430, set = 0, binding = 2) writeonly buffer Y { float y[]; };
#ifdef WEIGHTS
layout(std430, set = 0, binding = 3) writeonly buffer W { float w[]; };
#endif
layout(push_constant) uniform P {
  uint groups;
  uint heads, first_head;          // of this dispatch
  uint first_sentence, queries;
  uint all_heads, slots, positions;  // strides
  uint ld;                         // of q and y
  uint q_begin, kv_begin, y_begin;  // elements (kv: vec4 if VEC); q and y: of the first sentence's first row
  uint causal;
  float scale;
  uint w_begin, w_ld;              // weights: of row (first_sentence * all_heads + first_head) * queries
} p;

shared vec4 query[64];
shared float context[256];
shared float score[128];

float key_dot(uint key) {
#ifdef VEC
  uint at = p.kv_begin + key * (HEAD / 2u);
  vec4 s = vec4(0.0);
  for (uint d = 0u; d < HEAD / 4u; ++d) s += query[d] * kv[at + d];
  return s.x + s.y + s.z + s.w;
#else
  uint at = p.kv_begin + key * 2u * HEAD;
  float s = 0.0;
  for (uint d = 0u; d < HEAD; ++d) s += query[d >> 2][d & 3u] * kv[at + d];
  return s;
#endif
}

float value(uint key, uint d) {
#ifdef VEC
  uint at = p.kv_begin + key * (HEAD / 2u) + HEAD / 4u + (d >> 2);
  return kv[at][d & 3u];
#else
  return kv[p.kv_begin + key * 2u * HEAD + HEAD + d];
#endif
}

void main() {
  uint g = group_index();
  if (g >= p.groups) return;
  uint l = gl_LocalInvocationIndex;
  uint i = g % p.queries, h = g / p.queries % p.heads, b = g / p.queries / p.heads;
  uint row = (b * p.queries + i) * p.ld + (p.first_head + h) * HEAD;
  for (uint d = l; d < HEAD; d += LOCAL) {
    query[d >> 2][d & 3u] = q[p.q_begin + row + d] * p.scale;
    context[d] = 0.0;
  }
  barrier();
  // In keys: the first one of this head and sentence.
  uint base = (h * p.slots + b) * p.positions;
  uint begin = length_word(2u * (p.first_sentence + b)), end = length_word(2u * (p.first_sentence + b) + 1u);
  if (p.causal != 0u) end = min(end, i + 1u);
  float m = MASKED, sum = 0.0;
  for (uint k0 = begin; k0 < end; k0 += LOCAL) {
    uint n = min(LOCAL, end - k0);
    if (l < n) score[l] = key_dot(base + k0 + l);
    barrier();
    float next = m;
    for (uint j = 0u; j < n; ++j) next = max(next, score[j]);
    float shrink = exp(m - next), part = 0.0;
    for (uint j = 0u; j < n; ++j) part += exp(score[j] - next);
    for (uint d = l; d < HEAD; d += LOCAL) {
      float c = context[d] * shrink;
      for (uint j = 0u; j < n; ++j) c += exp(score[j] - next) * value(base + k0 + j, d);
      context[d] = c;
    }
    sum = sum * shrink + part;
    m = next;
    barrier();
  }
  float inverse = sum > 0.0 ? 1.0 / sum : 0.0;
  for (uint d = l; d < HEAD; d += LOCAL) y[p.y_begin + row + d] = context[d] * inverse;
  // The last head writes the padding of the row.
  if (p.first_head + h == p.all_heads - 1u)
    for (uint d = HEAD + l; d < p.ld - (p.all_heads - 1u) * HEAD; d += LOCAL) y[p.y_begin + row + d] = 0.0;
#ifdef WEIGHTS
  uint at = p.w_begin + ((b * p.all_heads + h) * p.queries + i) * p.w_ld;
  for (uint k = l; k < p.w_ld; k += LOCAL)
    w[at + k] = k >= begin && k < end ? exp(key_dot(base + k) - m) * inverse : 0.0;
#endif
}
