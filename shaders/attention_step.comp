#version 450
// Attention of one query a row while decoding: one workgroup a (row, head), keys in chunks of one a lane, online softmax
// with a finite start. -DVEC: head sizes that are multiples of 4. -DSELF: through the ancestry of the row's slot.
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#ifndef SELF
#define USE_PARAMS
#define USE_LENGTHS
#endif
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
#ifdef SELF
layout(std430, set = 0, binding = 3) readonly buffer Lineage { uint lineage[]; };
#endif
layout(push_constant) uniform P {
  uint groups;
  uint heads, first_head, all_heads;  // heads: of this dispatch
  uint slots, positions;              // strides of the keys and values
  uint kv_begin;                      // elements (vec4 if VEC) from the bound start to the first head
  uint ld;                            // of q and y
  uint lineage_slots, lineage_positions;
  float scale;
} p;

shared vec4 query[64];
shared float context[256];
shared float score[128];
shared uint source[128];  // where the chunk's keys are, in keys

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
  uint row = g / p.heads, h = g % p.heads;
  if (row >= step_word(STEP_LIVE)) return;
  uint l = gl_LocalInvocationIndex, slot = step_word(STEP_ROW_SLOT + row);
  uint at = row * p.ld + (p.first_head + h) * HEAD;
  for (uint d = l; d < HEAD; d += LOCAL) {
    query[d >> 2][d & 3u] = q[at + d] * p.scale;
    context[d] = 0.0;
  }
  barrier();
#ifdef SELF
  uint step = step_word(STEP_STEP), begin = 0u, end = step + 1u;
  uint ancestry = ((step & 1u) * 2u * p.lineage_slots + slot) * p.lineage_positions;
#else
  uint sentence = slot / param(P_BEAMS);
  uint begin = length_word(2u * sentence), end = length_word(2u * sentence + 1u);
  uint base = (h * p.slots + sentence) * p.positions;
#endif
  float m = MASKED, sum = 0.0;
  for (uint k0 = begin; k0 < end; k0 += LOCAL) {
    uint n = min(LOCAL, end - k0);
    if (l < n) {
      uint k = k0 + l;
#ifdef SELF
      uint owner = k == step ? slot : min(lineage[ancestry + k], p.slots - 1u);
      source[l] = (h * p.slots + owner) * p.positions + k;
#else
      source[l] = base + k;
#endif
      score[l] = key_dot(source[l]);
    }
    barrier();
    float next = m;
    for (uint j = 0u; j < n; ++j) next = max(next, score[j]);
    float shrink = exp(m - next), part = 0.0;
    for (uint j = 0u; j < n; ++j) part += exp(score[j] - next);
    for (uint d = l; d < HEAD; d += LOCAL) {
      float c = context[d] * shrink;
      for (uint j = 0u; j < n; ++j) c += exp(score[j] - next) * value(source[j], d);
      context[d] = c;
    }
    sum = sum * shrink + part;
    m = next;
    barrier();
  }
  float inverse = sum > 0.0 ? 1.0 / sum : 0.0;
  for (uint d = l; d < HEAD; d += LOCAL) y[at + d] = context[d] * inverse;
  // The last head writes the padding of the row.
  if (p.first_head + h == p.all_heads - 1u)
    for (uint d = HEAD + l; d < p.ld - (p.all_heads - 1u) * HEAD; d += LOCAL) y[at + d] = 0.0;
}
