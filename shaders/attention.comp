#version 450
// Attention with a running softmax (Milakov and Gimelshein 2018), no n x n buffer. A workgroup takes QT queries of one head: lanes run along the keys
// for the scores, then along the columns of the head for the sums. Macros: VEC (head size a multiple of 4: vec4),
// WEIGHTS (they are written too), STEP (one query a row of a step; CROSS: keys are those of the source), BIAS (by relative
// position; 1: a table, 2: values behind the columns of q), WINDOW (keys near the query, and listed ones), SPANS (the rows of
// an encode pass: queries and keys are counted through the whole pass, as if it were one sentence).
#extension GL_GOOGLE_include_directive : enable
#extension GL_EXT_control_flow_attributes : enable
#include "common.glsl"
#ifdef STEP
#define QT 1
#define USE_STEP
#ifdef CROSS
#define USE_LENGTHS
#endif
#else
#define QT 4
#ifdef SPANS
#define USE_SPANS
#else
#define USE_LENGTHS
#endif
#endif
#include "state.glsl"
#include "head_columns.glsl"

// S: one number for each of the QT queries.
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
#ifdef WINDOW
layout(std430, set = 0, binding = 3) readonly buffer Globals { uint globals[]; };  // per sentence: count, queries
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
  uint ld, out_ld;              // words from row to row
  float scale;
  int bias_low;                 // the first distance (key - query) of the table, and how many follow
  uint bias_last;
  uint bias_column;             // BIAS 2: of q
#ifdef STEP
  uint lineage_slots, lineage_positions;
  uint beams;  // CROSS: slots of a place
#else
  uint queries, query_begin, query_end;  // a sentence's; those of the slice
  uint tiles;                            // workgroups along the queries
  uint keys, causal;
  uint weights_begin, weights_ld;
  uint window;                           // keys on either side
  uint global_queries;                   // 1: the queries are the listed ones, and see everything
  uint globals_begin, globals_stride;    // words of sentence 0 (may wrap), of each
#endif
} p;

const uint CHUNK = 128u;  // keys at a time; a multiple of LOCAL
shared S score[CHUNK];
shared S lane_top[128];
#if (defined(STEP) && !defined(CROSS)) || defined(WINDOW)
#define FOUND
shared uint found[CHUNK];  // of each key in kv
#endif

const uint PARTS = HEAD_DIM / WIDTH;
const bool TWO_COLUMNS = LOCAL < PARTS;

uint kv_at(uint head, uint slot, uint position) {
  return (((head * p.slots + slot) * p.positions + position) * 2u * HEAD_DIM - p.kv_begin) / WIDTH;
}

#ifdef BIAS
#include "relative_bias.glsl"
#endif

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
  uint own = slot_of(row_word(row));
#ifdef CROSS
  uint slot = own / p.beams;
  uint begin = length_word(2u * slot), end = min(length_word(2u * slot + 1u), p.positions);
#else
  uint slot = own, step = position_of(row_word(row)), begin = 0u, end = min(step + 1u, p.positions);
  uint ancestry =
      lineage_word(lineage_parity(step), LINEAGE_ANCESTRY, slot, 0u, p.lineage_slots, p.lineage_positions);
#endif
  if (slot < p.slot_begin || slot >= p.slot_end) return;
  const uint count = 1u, first = 0u;
  uint first_row = row;
#elif defined(SPANS)
  // As many tiles as the pass has; those that begin in another slice of its rows are left to others.
  uvec4 behind = spans[MAX_ROWS - 1u];
  uint tiles = behind[SPAN_TILE] + div_up(behind[SPAN_IDS], TILE_ROWS), sentence;
  if (group >= tiles * p.heads) return;
  uint tile = group % tiles, head = p.head_begin + group / tiles;
  uvec4 span = span_of(tile, SPAN_TILE, sentence);
  const uint slot = 0u;
  uint begin = span[SPAN_ROW], end = begin + span[SPAN_IDS], origin = begin;
  uint first = begin + (tile - span[SPAN_TILE]) * TILE_ROWS, count = min(uint(QT), end - first), first_row = first;
  uvec4 query = uvec4(first) + uvec4(0, 1, 2, 3);
  if (p.global_queries == 0u && (first < p.query_begin || first >= p.query_end)) return;
#else
  uint tile = group % p.tiles, rest = group / p.tiles;
  uint head = p.head_begin + rest % p.heads, slot = p.slot_begin + rest / p.heads;
  uint first = p.query_begin + tile * uint(QT), count = min(uint(QT), p.query_end - first);
  uint begin = min(length_word(2u * slot), p.keys), end = min(length_word(2u * slot + 1u), p.keys);
  if (p.causal != 0u) end = min(end, first + count);
  uint first_row = slot * p.queries + first;
  uvec4 query = uvec4(first) + uvec4(0, 1, 2, 3);
  const uint origin = 0u;
  uint sentence = slot;
#endif
  // Keys are walked as numbers from `from` to `to`.
  uint from = begin, to = end;
#ifdef WINDOW
  // The listed keys come first, as far as they are outside the window.
  uint list = p.globals_begin + sentence * p.globals_stride, listed = min(globals[list], p.globals_stride - 1u);
  uint first_key = begin, last_key = end;
  if (p.global_queries != 0u) {
    uint entry = first - origin;
    if (entry >= listed) return;
    count = min(count, listed - entry);
    for (uint i = 0u; i < 4u; ++i)
      query[i] = min(globals[list + 1u + entry + min(i, count - 1u)], p.queries - 1u);
#ifdef SPANS
    // Those of other slices: one of this slice takes their place, and is computed more than once.
    uint own = 4u;
    for (uint i = 0u; i < 4u; ++i)
      if (query[i] >= p.query_begin && query[i] < p.query_end) own = i;
    if (own == 4u) return;
    for (uint i = 0u; i < 4u; ++i)
      if (query[i] < p.query_begin || query[i] >= p.query_end) query[i] = query[own];
#endif
    listed = 0u;
  } else {
    first_key = max(begin, first - min(first, p.window));
    last_key = max(first_key, min(end, first + count + p.window));
  }
  from = 0u;
  to = listed + last_key - first_key;
#endif

  S top = S(MASKED), sum = S(0.0);
  T acc[QT];
  for (uint i = 0u; i < uint(QT); ++i) acc[i] = T(0.0);
  T more[QT];  // where a lane has two of the head's columns
  for (uint i = 0u; i < uint(QT); ++i) more[i] = T(0.0);
  uint qs[QT];
#ifdef STEP
  qs[0] = (p.q_begin + row * p.ld + head * HEAD_DIM) / WIDTH;
#else
  for (uint i = 0u; i < uint(QT); ++i)
    qs[i] = (p.q_begin + (slot * p.queries + query[min(i, count - 1u)]) * p.ld + head * HEAD_DIM) / WIDTH;
#endif
  for (uint base = from; base < to; base += CHUNK) {
    uint n = min(CHUNK, to - base);
    S mine = S(MASKED);
    // Two keys at a time share the loads of q.
    for (uint j = lane; j < n; j += 2u * LOCAL) {
      uint other = min(j + LOCAL, n - 1u);
#if defined(STEP) && !defined(CROSS)
      uint holder = base + j == step ? slot : lineage[ancestry + base + j];
      uint other_holder = base + other == step ? slot : lineage[ancestry + base + other];
      uint at = kv_at(head, holder, base + j), other_at = kv_at(head, other_holder, base + other);
#elif defined(WINDOW)
      uint key = base + j, other_key = base + other;
      key = key < listed ? min(globals[list + 1u + key], p.keys - 1u) : first_key + key - listed;
      other_key = other_key < listed ? min(globals[list + 1u + other_key], p.keys - 1u) : first_key + other_key - listed;
      uint at = kv_at(head, slot, key), other_at = kv_at(head, slot, other_key);
#else
      uint at = kv_at(head, slot, base + j), other_at = kv_at(head, slot, base + other);
#endif
#ifdef FOUND
      found[j] = at;
      if (j + LOCAL < n) found[other] = other_at;
#endif
      S dots = S(0.0), other_dots = S(0.0);
      // Unrolled, which its constant bound invites, the loads of all turns come first and GPUs run out of registers.
      [[dont_unroll]] for (uint d = 0u; d < PARTS; ++d) {
        T key_part = kv[at + d], other_part = kv[other_at + d];
        for (uint i = 0u; i < uint(QT); ++i) {
          T part = q[qs[i] + d];
          OF(dots, i) += product(part, key_part);
          OF(other_dots, i) += product(part, other_part);
        }
      }
      dots *= p.scale;
      other_dots *= p.scale;
#ifdef BIAS
#ifdef STEP
      dots += bias_of(base + j, step, head, p.q_begin + row * p.ld);
      other_dots += bias_of(base + other, step, head, p.q_begin + row * p.ld);
#else
      for (uint i = 0u; i < uint(QT); ++i) {
        uint q_row = p.q_begin + (first_row + min(i, count - 1u)) * p.ld;
        dots[i] += bias_of(base + j, first + i, head, q_row);
        other_dots[i] += bias_of(base + other, first + i, head, q_row);
      }
#endif
#endif
#ifdef WINDOW
      if (p.global_queries == 0u) {
        // A listed key within the window counts there.
        bvec4 far = greaterThan(uvec4(abs(ivec4(query) - int(key))), uvec4(p.window));
        bvec4 other_far = greaterThan(uvec4(abs(ivec4(query) - int(other_key))), uvec4(p.window));
        bool is_listed = base + j < listed, other_is_listed = base + other < listed;
        bool inside = key >= begin && key < end, other_inside = other_key >= begin && other_key < end;
        dots = mix(vec4(MASKED), dots, equal(far, bvec4(is_listed)));
        other_dots = mix(vec4(MASKED), other_dots, equal(other_far, bvec4(other_is_listed)));
        if (!inside) dots = vec4(MASKED);
        if (!other_inside) other_dots = vec4(MASKED);
      }
#endif
#if !defined(STEP) && !defined(WINDOW)
      if (p.causal != 0u) {
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
    // A chunk is summed up by itself: one sum over all keys would lose digits where there are thousands.
    S chunk_sum = S(0.0);
    T chunk_acc[QT], chunk_more[QT];
    for (uint i = 0u; i < uint(QT); ++i) chunk_acc[i] = chunk_more[i] = T(0.0);
    // Lanes without a column read one that is there and drop what comes of it.
    uint column = PARTS + min(lane, PARTS - 1u);
    uint second = PARTS + min(lane + LOCAL, PARTS - 1u);
    for (uint j = 0u; j < n; ++j) {
#ifdef FOUND
      uint at = found[j];
#else
      uint at = kv_at(head, slot, base + j);
#endif
      S s = score[j];
      chunk_sum += s;
      T value = kv[at + column];
      for (uint i = 0u; i < uint(QT); ++i) chunk_acc[i] += OF(s, i) * value;
      if (TWO_COLUMNS) {
        T value2 = kv[at + second];
        for (uint i = 0u; i < uint(QT); ++i) chunk_more[i] += OF(s, i) * value2;
      }
    }
    sum = sum * shrink + chunk_sum;
    for (uint i = 0u; i < uint(QT); ++i) acc[i] = acc[i] * OF(shrink, i) + chunk_acc[i];
    if (TWO_COLUMNS)
      for (uint i = 0u; i < uint(QT); ++i) more[i] = more[i] * OF(shrink, i) + chunk_more[i];
    barrier();  // score is written again
  }
  S inv;  // no key at all: zeros
  for (uint i = 0u; i < uint(QT); ++i) OF(inv, i) = OF(sum, i) > 0.0 ? 1.0 / OF(sum, i) : 0.0;
  for (uint i = 0u; i < uint(QT); ++i)
    if (i < count) {
#ifdef WINDOW
      uint out_row = slot * p.queries + query[i];
#else
      uint out_row = first_row + i;
#endif
      uint at = (p.out_begin + out_row * p.out_ld + head * HEAD_DIM) / WIDTH;
      if (lane < PARTS) context[at + lane] = acc[i] * OF(inv, i);
      if (TWO_COLUMNS && lane + LOCAL < PARTS) context[at + lane + LOCAL] = more[i] * OF(inv, i);
#ifndef VEC
      // The padding behind the last head.
      if (head + 1u == p.all_heads && lane < p.out_ld - p.all_heads * HEAD_DIM) context[at + HEAD_DIM + lane] = 0.0;
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
