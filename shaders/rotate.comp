#version 450
// Rotates queries and keys of self attention by their positions, two columns at a time: neighbours, or one of each half;
// one workgroup per row. -DSTEP: rows of a decoding step; -DSPANS: rows of an encode pass; -DNORMS: heads are normalized
// before that, or after it.
#extension GL_GOOGLE_include_directive : enable
#ifdef STEP
#define USE_STEP
#endif
#ifdef SPANS
#define USE_SPANS
#endif
#include "common.glsl"
#include "state.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(std430, set = 0, binding = 0) buffer Q { float q[]; };
#ifdef STEP
#define KV_FORMAT_ID 1
#endif
#define KV_BINDING 1
#include "panel.glsl"
#include "kv_write.glsl"
layout(std430, set = 0, binding = 2) readonly buffer Table { float table[]; };
layout(push_constant) uniform P {
  uint groups;
  uint first_row;
  uint heads, head_dim, pairs;           // heads: of the queries, at least as many as those of the keys
  uint halves;                           // 1: pairs of a column in each half, not of neighbours
  uint table_ld;
  uint q_ld, q_begin;                    // words; q_ld 0: other dispatches handle the queries
  uint rows_per_slot, slots, positions;  // of kv
  uint head_begin, head_end;             // heads of kv bound here; other dispatches handle the rest
  uint cell_begin, cell_end;             // likewise cells, slot * positions + position
  uint kv_begin;                         // where the bound part begins, in numbers of kv
  float epsilon;                         // of norms
  uint norms_last;                       // 1: the rotation comes before the norms' weights
} p;
const uint TABLE_ROWS = 256u;  // kRotationRows

// Where a pair's second column is, counted from its first.
uint partner() { return p.halves != 0u ? p.pairs : 1u; }

#ifdef NORMS
layout(std430, set = 0, binding = 3) readonly buffer Norms { float norms[]; };  // of queries, then of keys
const uint MOST_HEADS = 512u, SHARES = 4u;  // kMostNormedHeads of queries and keys together; lanes that share a head
shared float squares[MOST_HEADS * SHARES];
#endif

// Rotates v by the angle whose cosine and sine are given.
vec2 turned(const vec2 v, const vec2 angle) { return vec2(v.x * angle.x - v.y * angle.y, v.y * angle.x + v.x * angle.y); }

// Cosine and sine of a pair's angle at a position.
vec2 angle_at(const uint position, const uint pair) {
  uint low = position % TABLE_ROWS * p.table_ld + 2u * pair;
  uint high = (TABLE_ROWS + position / TABLE_ROWS) * p.table_ld + 2u * pair;
  return turned(vec2(table[low], table[low + 1u]), vec2(table[high], table[high + 1u]));
}

// Where a head of keys begins.
uint key_at(const uint head, const uint cell) { return (head * p.slots * p.positions + cell) * 2u * p.head_dim - p.kv_begin; }
float key_number(const uint at) {
#ifdef STEP
  vec2 both = kv_pair(at & ~1u);
  return (at & 1u) != 0u ? both.y : both.x;
#else
  return kv_number(at);
#endif
}

#ifdef NORMS
// Sums of squares of a row's heads: of queries first, then of the keys that are bound here.
void sum_squares(const uint group, const uint cell, const bool bound) {
  uint queries = p.q_ld != 0u ? p.heads : 0u, all = queries + (bound ? p.head_end - p.head_begin : 0u);
  for (uint i = gl_LocalInvocationIndex; i < all * SHARES; i += LOCAL) {
    uint head = i / SHARES;
    bool key = head >= queries;
    uint at = key ? key_at(p.head_begin + head - queries, cell) : p.q_begin + group * p.q_ld + head * p.head_dim;
    float sum = 0.0;
    for (uint c = i % SHARES; c < p.head_dim; c += SHARES) {
      float v = key ? key_number(at + c) : q[at + c];
      sum += v * v;
    }
    squares[i] = sum;
  }
  barrier();
}

// The factor of a head's numbers, besides the weights.
float norm_of(const uint head) {
  uint at = head * SHARES;
  float sum = squares[at] + squares[at + 1u] + squares[at + 2u] + squares[at + 3u];
  return inversesqrt(sum / float(p.head_dim) + p.epsilon);
}
vec2 query_scale(const uint head, const uint column) {
  return norm_of(head) * vec2(norms[column], norms[column + partner()]);
}
vec2 key_scale(const uint head, const uint column) {
  uint first = p.q_ld != 0u ? p.heads : 0u, at = (p.head_dim + 3u) / 4u * 4u + column;
  return norm_of(first + head - p.head_begin) * vec2(norms[at], norms[at + partner()]);
}
#else
vec2 query_scale(const uint head, const uint column) { return vec2(1.0); }
vec2 key_scale(const uint head, const uint column) { return vec2(1.0); }
#endif

// A pair, normalized and rotated. A rotation keeps the sum of squares, so that only the weights know the order.
vec2 turned_pair(const vec2 v, const vec2 scale, const uint position, const uint pair) {
  vec2 angle = angle_at(position, pair);
#ifdef NORMS
  if (p.norms_last != 0u) return scale * turned(v, angle);
#endif
  return turned(scale * v, angle);
}

vec2 turned_key(const vec2 v, const uint head, const uint pair, const uint position) {
  return turned_pair(v, key_scale(head, p.halves != 0u ? pair : 2u * pair), position, pair);
}

#ifdef STEP
// Halves of fp16: two pairs share the words of their columns.
void turn_two(const uint at, const uint head, const uint pair, const uint position) {
  vec2 first = kv_pair(at + pair), second = kv_pair(at + p.pairs + pair);
  vec2 even = turned_key(vec2(first.x, second.x), head, pair, position);
  vec2 odd = turned_key(vec2(first.y, second.y), head, pair + 1u, position);
  store_kv_pair(at + pair, vec2(even.x, odd.x));
  store_kv_pair(at + p.pairs + pair, vec2(even.y, odd.y));
}
#endif

void turn_keys(const uint cell, const uint position) {
#ifdef STEP
  uint together = p.halves != 0u && KV_FORMAT == KV_FP16 ? 2u : 1u;
#else
  const uint together = 1u;
#endif
  uint turns = p.pairs / together, heads = p.head_end - p.head_begin;
  for (uint i = gl_LocalInvocationIndex; i < heads * turns; i += LOCAL) {
    uint head = p.head_begin + i / turns, pair = i % turns * together, at = key_at(head, cell);
#ifdef STEP
    if (together == 2u) {
      turn_two(at, head, pair, position);
      continue;
    }
    if (p.halves == 0u) {
      store_kv_pair(at + 2u * pair, turned_key(kv_pair(at + 2u * pair), head, pair, position));
      continue;
    }
#endif
    at += p.halves != 0u ? pair : 2u * pair;
    vec2 v = turned_key(vec2(kv_number(at), kv_number(at + partner())), head, pair, position);
    store_kv_number(at, v.x);
    store_kv_number(at + partner(), v.y);
  }
}

void turn_queries(const uint group, const uint position) {
  for (uint i = gl_LocalInvocationIndex; i < p.heads * p.pairs; i += LOCAL) {
    uint head = i / p.pairs, pair = i - head * p.pairs, column = p.halves != 0u ? pair : 2u * pair;
    uint at = p.q_begin + group * p.q_ld + head * p.head_dim + column;
    vec2 v = turned_pair(vec2(q[at], q[at + partner()]), query_scale(head, column), position, pair);
    q[at] = v.x;
    q[at + partner()] = v.y;
  }
}

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint row = p.first_row + group;
#ifdef STEP
  if (row >= step_word(STEP_LIVE)) return;
  uint word_of_row = row_word(row), position = position_of(word_of_row);
  uint cell = beam_slot_of(word_of_row) * p.positions + position % p.positions;  // a ring
#else
  uint slot = row / p.rows_per_slot, position = row - slot * p.rows_per_slot, cell = slot * p.positions + position;
#ifdef SPANS
  uint sentence;
  uvec4 span = span_of(row, SPAN_ROW, sentence);
  position = row - span[SPAN_ROW];
  if (position >= span[SPAN_IDS]) return;
#endif
#endif
  bool bound = cell >= p.cell_begin && cell < p.cell_end;
#ifdef NORMS
  sum_squares(group, cell, bound);
#endif
  if (p.q_ld != 0u) turn_queries(group, position);
  if (bound) turn_keys(cell, position);
}
