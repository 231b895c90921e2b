#version 450
// Attention with a running softmax (Milakov and Gimelshein 2018), no n x n buffer. A workgroup takes QT queries of one head: lanes run along the keys
// for the scores, then along the columns of the head for the sums. Macros: VEC (head size a multiple of 4: vec4),
// WEIGHTS (they are written too), STEP (one query a row of a step; CROSS: keys are those of the source).
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#ifdef STEP
#define QT 1
#define USE_STEP
#ifdef CROSS
#define USE_PARAMS
#define USE_LENGTHS
#endif
#else
#define QT 4
#define USE_LENGTHS
#endif
#include "state.glsl"

// T: a piece of a head's columns; S: one number for each of the QT queries.
#ifdef VEC
#define T vec4
#define WIDTH 4u
float product(vec4 a, vec4 b) { return dot(a, b); }
#else
#define T float
#define WIDTH 1u
float product(float a, float b) { return a * b; }
#endif
#ifdef STEP
#define S float
#define OF(s, i) (s)
#else
#define S vec4
#define OF(s, i) (s)[i]
#endif

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(constant_id = 1) const uint HEAD_DIM = 64;

layout(std430, set = 0, binding = 0) readonly buffer Q { T q[]; };
layout(std430, set = 0, binding = 1) readonly buffer KV { T kv[]; };
#ifdef STEP
#ifndef CROSS
layout(std430, set = 0, binding = 2) readonly buffer Lineage { uint lineage[]; };
#endif
layout(std430, set = 0, binding = 3) writeonly buffer Out { T context[]; };
#else
layout(std430, set = 0, binding = 2) writeonly buffer Out { T context[]; };
#ifdef WEIGHTS
layout(std430, set = 0, binding = 3) buffer Weights { float weights[]; };
#endif
#endif

layout(push_constant) uniform P {
  uint groups;
  uint all_heads;
  uint heads, head_begin;       // of the slice
  uint slots, positions;        // strides of kv
  uint slot_begin, slot_end;    // sentences, or slots, in the bound part
  uint kv_begin;                // word of kv at which the bound part begins
  uint q_begin, out_begin;      // words: where row 0 would begin (may wrap)
  uint ld;                      // words from row to row of q and out
  float scale;
#ifdef STEP
  uint lineage_slots, lineage_positions;
#else
  uint queries, query_begin, query_end;  // a sentence's; those of the slice
  uint tiles;                            // workgroups along the queries
  uint keys, causal;
  uint weights_begin, weights_ld;
#endif
} p;

const uint CHUNK = 128u;  // keys at a time; a multiple of LOCAL
shared S score[CHUNK];
shared S lane_top[128];
#if defined(STEP) && !defined(CROSS)
shared uint found[CHUNK];  // of each key in kv
#endif

const uint PARTS = HEAD_DIM / WIDTH;
const bool TWO_COLUMNS = LOCAL < PARTS;

uint kv_at(uint head, uint slot, uint position) {
  return (((head * p.slots + slot) * p.positions + position) * 2u * HEAD_DIM - p.kv_begin) / WIDTH;
}

S weight_of(S score_now, S top) {
#ifdef STEP
  return exp(score_now - top);
#else
  return mix(vec4(0.0), exp(score_now - top), greaterThan(score_now, vec4(FORBIDDEN)));
#endif
}

void main() {
  uint group = group_index(), lane = gl_LocalInvocationID.x;
  if (group >= p.groups) return;
  // Which queries, of which head and slot, and which keys they may see.
#ifdef STEP
  uint row = group / p.heads, head = p.head_begin + group % p.heads;
  if (row >= step_word(STEP_LIVE)) return;
  uint own = step_word(STEP_ROW_SLOT + row);
#ifdef CROSS
  uint slot = own / param(P_BEAMS);
  uint begin = length_word(2u * slot), end = min(length_word(2u * slot + 1u), p.positions);
#else
  uint slot = own, step = step_word(STEP_STEP), begin = 0u, end = min(step + 1u, p.positions);
  uint ancestry = ((step & 1u) * 2u * p.lineage_slots + slot) * p.lineage_positions;
#endif
  if (slot < p.slot_begin || slot >= p.slot_end) return;
  const uint count = 1u, first = 0u;
  uint first_row = row;
#else
  uint tile = group % p.tiles, rest = group / p.tiles;
  uint head = p.head_begin + rest % p.heads, slot = p.slot_begin + rest / p.heads;
  uint first = p.query_begin + tile * uint(QT), count = min(uint(QT), p.query_end - first);
  uint begin = min(length_word(2u * slot), p.keys), end = min(length_word(2u * slot + 1u), p.keys);
  if (p.causal != 0u) end = min(end, first + count);
  uint first_row = slot * p.queries + first;
#endif
  uint qi = (p.q_begin + first_row * p.ld + head * HEAD_DIM) / WIDTH, q_step = p.ld / WIDTH;

  S top = S(MASKED), sum = S(0.0);
  T acc[QT];
  for (uint i = 0u; i < uint(QT); ++i) acc[i] = T(0.0);
  T more[QT];  // where a lane has two of the head's columns
  for (uint i = 0u; i < uint(QT); ++i) more[i] = T(0.0);
  uint qs[QT];
  for (uint i = 0u; i < uint(QT); ++i) qs[i] = qi + min(i, count - 1u) * q_step;
  for (uint base = begin; base < end; base += CHUNK) {
    uint n = min(CHUNK, end - base);
    S mine = S(MASKED);
    // Two keys at a time share the loads of q.
    for (uint j = lane; j < n; j += 2u * LOCAL) {
      uint other = min(j + LOCAL, n - 1u);
#if defined(STEP) && !defined(CROSS)
      uint holder = base + j == step ? slot : lineage[ancestry + base + j];
      uint other_holder = base + other == step ? slot : lineage[ancestry + base + other];
      uint at = kv_at(head, holder, base + j), other_at = kv_at(head, other_holder, base + other);
      found[j] = at;
      if (j + LOCAL < n) found[other] = other_at;
#else
      uint at = kv_at(head, slot, base + j), other_at = kv_at(head, slot, base + other);
#endif
      S dots = S(0.0), other_dots = S(0.0);
      for (uint d = 0u; d < PARTS; ++d) {
        T key = kv[at + d], other_key = kv[other_at + d];
        for (uint i = 0u; i < uint(QT); ++i) {
          T part = q[qs[i] + d];
          OF(dots, i) += product(part, key);
          OF(other_dots, i) += product(part, other_key);
        }
      }
      dots *= p.scale;
      other_dots *= p.scale;
#ifndef STEP
      if (p.causal != 0u) {
        uvec4 query = uvec4(first) + uvec4(0, 1, 2, 3);
        dots = mix(dots, vec4(MASKED), greaterThan(uvec4(base + j), query));
        other_dots = mix(other_dots, vec4(MASKED), greaterThan(uvec4(base + other), query));
      }
#endif
      mine = max(mine, max(dots, other_dots));
      score[j] = dots;
      if (j + LOCAL < n) score[other] = other_dots;
#ifdef WEIGHTS
      for (uint i = 0u; i < uint(QT); ++i)
        if (i < count) {
          uint wi = p.weights_begin + ((slot * p.all_heads + head) * p.queries + first + i) * p.weights_ld + base;
          weights[wi + j] = dots[i];
          if (j + LOCAL < n) weights[wi + other] = other_dots[i];
        }
#endif
    }
    lane_top[lane] = mine;
    barrier();
    S now = top;
    for (uint l = 0u; l < min(LOCAL, n); ++l) now = max(now, lane_top[l]);
    S shrink = exp(top - now);
    top = now;
    for (uint j = lane; j < n; j += LOCAL) score[j] = weight_of(score[j], now);
    barrier();
    sum *= shrink;
    for (uint i = 0u; i < uint(QT); ++i) acc[i] *= OF(shrink, i);
    if (TWO_COLUMNS)
      for (uint i = 0u; i < uint(QT); ++i) more[i] *= OF(shrink, i);
    // Lanes without a column read one that is there and drop what comes of it.
    uint column = PARTS + min(lane, PARTS - 1u);
    uint second = PARTS + min(lane + LOCAL, PARTS - 1u);
    for (uint j = 0u; j < n; ++j) {
#if defined(STEP) && !defined(CROSS)
      uint at = found[j];
#else
      uint at = kv_at(head, slot, base + j);
#endif
      S s = score[j];
      sum += s;
      T value = kv[at + column];
      for (uint i = 0u; i < uint(QT); ++i) acc[i] += OF(s, i) * value;
      if (TWO_COLUMNS) {
        T value2 = kv[at + second];
        for (uint i = 0u; i < uint(QT); ++i) more[i] += OF(s, i) * value2;
      }
    }
    barrier();  // score is written again
  }
  S inv;  // no key at all: zeros
  for (uint i = 0u; i < uint(QT); ++i) OF(inv, i) = OF(sum, i) > 0.0 ? 1.0 / OF(sum, i) : 0.0;
  uint out_at = (p.out_begin + first_row * p.ld + head * HEAD_DIM) / WIDTH;
  for (uint i = 0u; i < uint(QT); ++i)
    if (i < count) {
      uint at = out_at + i * (p.ld / WIDTH);
      if (lane < PARTS) context[at + lane] = acc[i] * OF(inv, i);
      if (TWO_COLUMNS && lane + LOCAL < PARTS) context[at + lane + LOCAL] = more[i] * OF(inv, i);
#ifndef VEC
      // The padding behind the last head.
      if (head + 1u == p.all_heads && lane < p.ld - p.all_heads * HEAD_DIM) context[at + HEAD_DIM + lane] = 0.0;
#endif
    }
#ifdef WEIGHTS
  uint wi = p.weights_begin + ((slot * p.all_heads + head) * p.queries + first) * p.weights_ld;
  for (uint j = lane; j < p.weights_ld; j += LOCAL)
    if (j < begin || j >= end)
      for (uint i = 0u; i < uint(QT); ++i)
        if (i < count) weights[wi + i * p.weights_ld + j] = 0.0;
  // A lane reads only scores that it wrote itself: key j went to lane (j - begin) % LOCAL.
  for (uint j = begin + lane; j < end; j += LOCAL)
    for (uint i = 0u; i < uint(QT); ++i)
      if (i < count) {
        uint at = wi + i * p.weights_ld + j;
        float s = weights[at];
        weights[at] = s > FORBIDDEN ? exp(s - OF(top, i)) * OF(inv, i) : 0.0;
      }
#endif
}
