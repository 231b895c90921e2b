#version 450
// Attention with a running softmax (Milakov and Gimelshein 2018), without an n x n buffer. A workgroup takes QT queries
// of one head: lanes run along the keys for the scores, then along the columns of the head for the sums. Macros: VEC
// (head size a multiple of 4: vec4), WEIGHTS (writes the weights too), STEP (one query per row of a step; CROSS: keys
// are those of the source; TILE: up to four rows of one text in a prompt), BIAS (by relative position: a table, or values behind the columns of q), MAP_BIAS (for
// windows of a map), TERMS (products with vectors of relative positions; with WEIGHTS these alone are written), WINDOW
// (keys near the query, and listed ones), SPANS (rows of an encode pass: queries and keys are counted through the whole
// pass, as if it were one sentence), TEXELS (see kv_read.glsl).
#extension GL_GOOGLE_include_directive : enable
#include "attention_operands.glsl"
#include "attention_place.glsl"

// S holds one number for each of the QT queries.
#ifdef ONE_QUERY
#define S float
#define OF(s, i) (s)
#else
#define S vec4
#define OF(s, i) (s)[i]
#endif

// Loads of keys and values in flight at a time. A step's workgroup has a GPU core nearly to itself and stalls on each
// load; the small workgroups of a CPU driver never stall.
#ifdef ONE_QUERY
bool waits() { return LOCAL > 8u; }
uint keys_ahead() { return waits() && PARTS % (4u * KV_EACH) == 0u ? 4u : 1u; }
#else
uint keys_ahead() { return 1u; }
#endif
const uint CHUNK = 128u;  // keys at a time; a multiple of LOCAL; equals kAttentionChunk of attention_parts.hpp
shared S score[CHUNK];
shared S lane_top[128];
// Where a head has fewer columns than a workgroup has lanes, teams of lanes share the keys whose values are summed.
#ifdef ONE_QUERY
const uint TEAMS = LOCAL / PARTS > 1u ? LOCAL / PARTS : 1u;
shared T team_acc[128];
shared float team_sum[128];
#else
const uint TEAMS = 1u;
#endif
#if (defined(STEP) && !defined(CROSS)) || defined(WINDOW)
#define FOUND
shared uint found[CHUNK];  // index of each key in kv
#endif

S weight_of(S score_now, S top) {
#ifdef ONE_QUERY
  return exp(score_now - top);
#else
  return mix(vec4(0.0), exp(score_now - top), greaterThan(score_now, vec4(FORBIDDEN)));
#endif
}

// Where the next chunk begins. Queries of a tile see keys from different positions on, and have the same chunks.
uint chunk_after(const uint base) {
#ifdef TILE
  return base - base % CHUNK + CHUNK;
#else
  return base + CHUNK;
#endif
}

// Location of key j of the chunk that begins at `base`.
uint key_at(const uint base, const uint j) {
#ifdef FOUND
  return found[j];
#else
  return kv_at(head, slot, base + j);
#endif
}

#ifdef WINDOW
uint window_key(const uint number) {
  return number < listed ? min(globals[list + 1u + number], p.keys - 1u) : first_key + number - listed;
}

// A listed key inside the window counts as part of the window.
S in_window(const S dots, const uint number) {
  if (p.global_queries != 0u) return dots;
  uint key = window_key(number);
  ivec4 back = ivec4(query) - int(key);
  bvec4 before = greaterThan(back, ivec4(int(p.window))), after = lessThan(back, ivec4(-int(p.window_after)));
  bvec4 far = bvec4(before.x || after.x, before.y || after.y, before.z || after.z, before.w || after.w);
  bool inside = key >= begin && key < end;
  return inside ? mix(vec4(MASKED), dots, equal(far, bvec4(number < listed))) : vec4(MASKED);
}
#endif

// Where key `number` is read for the first time.
uint find_key(const uint number) {
#if defined(STEP) && !defined(CROSS)
  return kv_at(head, number >= step ? slot : lineage[ancestry + number], number);
#elif defined(WINDOW)
  return kv_at(head, slot, window_key(number));
#else
  return kv_at(head, slot, number);
#endif
}

uint qs[QT];  // where the queries begin

#ifdef TERMS
S same_segment, other_segment, types;  // of the queries

uint q_row_of(const uint i) { return p.q_begin + (first_row + min(i, count - 1u)) * p.ld; }

void find_segments() {
  if (!uses(BY_SEGMENT)) return;
  for (uint i = 0u; i < uint(QT); ++i) {
    vec2 terms = segment_terms(q_row_of(i), head);
    same_segment[i] = terms.x;
    other_segment[i] = terms.y;
    types[i] = type_at(q_row_of(i));
  }
}

// The terms of a key, which is at `at` in kv.
S terms_of(const uint number, const uint at) {
  S sums = S(0.0);
  uint lines[QT], by_query = p.bias_column / WIDTH, keys = (p.key_column + head * p.key_stride) / WIDTH;
  for (uint i = 0u; i < uint(QT); ++i) lines[i] = line_of(number, first + min(i, count - 1u) + keys_before());
  [[dont_unroll]] for (uint d = 0u; d < PARTS; ++d) {
    T key_part = kv_load(at + d);
    for (uint i = 0u; i < uint(QT); ++i) {
      if (uses(BY_QUERY)) sums[i] += product(q[qs[i] + by_query + d], vectors[lines[i] + keys + d]);
      if (uses(BY_KEY)) sums[i] += product(key_part, vectors[lines[i] + head * PARTS + d]);
    }
  }
  if (!uses(BY_SEGMENT)) return sums;
  float type = type_of_key(slot * p.queries, number);
  return sums + mix(other_segment, same_segment, equal(types, vec4(type)));
}
#endif

// The queries' scores of a key, which is at `at` in kv, from their products with it.
S score_of(S dots, const uint number, const uint at) {
#ifdef TERMS
  dots += terms_of(number, at);
#endif
  dots *= p.scale;
#ifdef CAPPED
  dots = capped(dots);
#endif
#if defined(BIAS) || defined(MAP_BIAS)
#ifdef STEP
  dots += bias_of(number, step, head, p.q_begin + row * p.ld);
#else
  for (uint i = 0u; i < uint(QT); ++i) {
#ifdef MAP_BIAS
    uint q_row = slot;
#else
    uint q_row = p.q_begin + (first_row + min(i, count - 1u)) * p.ld;
#endif
    dots[i] += bias_of(number, first + i, head, q_row);
  }
#endif
#endif
#ifdef WINDOW
  dots = in_window(dots, number);
#elif defined(TERMS)
  if (p.causal != 0u) {
    // Beyond p.causal, and with a key after the query's own, which wraps.
    uvec4 back = query + keys_before() - number;
    dots = mix(dots, vec4(MASKED), greaterThanEqual(back, uvec4(min(p.causal, 0x80000000u))));
  }
  if (uses(BY_MASK))
    for (uint i = 0u; i < uint(QT); ++i)
      if (is_hidden(slot, first + min(i, count - 1u), number)) dots[i] = MASKED;
#elif defined(TILE)
  // Beyond the window, and a key after the query's own, which wraps.
  dots = mix(dots, vec4(MASKED), greaterThan(query - number, uvec4(min(p.window, p.positions - 1u))));
#elif !defined(STEP)
  if (p.causal != 0u) dots = mix(dots, vec4(MASKED), greaterThan(uvec4(number), query));
#endif
  return dots;
}

void find_queries() {
#ifdef STEP
  for (uint i = 0u; i < uint(QT); ++i)
    qs[i] = (p.q_begin + (row + min(i, count - 1u)) * p.ld + head * HEAD_DIM) / WIDTH;
#else
  for (uint i = 0u; i < uint(QT); ++i)
    qs[i] = (p.q_begin + (slot * p.queries + query[min(i, count - 1u)]) * p.ld + head * HEAD_DIM) / WIDTH;
#endif
}

#ifdef WEIGHTS
// Line of weights of query i.
uint weights_at(const uint i) {
  return p.weights_begin + ((slot * p.all_heads + head) * p.queries + first + i) * p.weights_ld;
}

void put_scores(const uint number, const S scores) {
  for (uint i = 0u; i < uint(QT); ++i)
    if (i < count) weights[weights_at(i) + number] = scores[i];
}

void put_weights(const S top, const S inv) {
  uint lane = gl_LocalInvocationID.x;
  for (uint j = lane; j < p.weights_ld; j += LOCAL)
    if (j < begin || j >= end)
      for (uint i = 0u; i < uint(QT); ++i)
        if (i < count) weights[weights_at(i) + j] = 0.0;
  // A lane reads only scores that it wrote itself: key j went to lane (j - begin) % LOCAL.
  for (uint j = begin + lane; j < end; j += LOCAL)
    for (uint i = 0u; i < uint(QT); ++i)
      if (i < count) {
        uint at = weights_at(i) + j;
        float s = weights[at];
        weights[at] = s > FORBIDDEN ? exp(s - OF(top, i)) * OF(inv, i) : 0.0;
      }
}
#endif

// Scores of the n keys from `base` on, each by one lane, and in lane_top the greatest of each lane.
void score_keys(const uint base, const uint n) {
  uint lane = gl_LocalInvocationID.x;
  S mine = S(MASKED);
  // Two keys at a time share the loads of q.
  for (uint j = lane; j < n; j += 2u * LOCAL) {
    uint other = min(j + LOCAL, n - 1u), at = find_key(base + j), other_at = find_key(base + other);
#ifdef FOUND
    found[j] = at;
    if (j + LOCAL < n) found[other] = other_at;
#endif
    S dots = S(0.0), other_dots = S(0.0);
    // The constant bound invites unrolling, which would hoist the loads of all turns and exhaust a GPU's registers.
    [[dont_unroll]] for (uint turn = 0u; turn < PARTS; turn += keys_ahead() * KV_EACH)
      [[unroll]] for (uint a = 0u; a < keys_ahead(); ++a) {
        uint d = turn + a * KV_EACH;
        KV_WORDS key_words = kv_words((at + d) / KV_EACH), other_words = kv_words((other_at + d) / KV_EACH);
        [[unroll]] for (uint e = 0u; e < KV_EACH; ++e) {
          if (PARTS % KV_EACH != 0u && d + e >= PARTS) continue;
          T key_part = kv_element(key_words, e), other_part = kv_element(other_words, e);
          for (uint i = 0u; i < uint(QT); ++i) {
            T part = q[qs[i] + d + e];
            OF(dots, i) += product(part, key_part);
            OF(other_dots, i) += product(part, other_part);
          }
        }
      }
    dots = score_of(dots, base + j, at);
    other_dots = score_of(other_dots, base + other, other_at);
    mine = max(mine, max(dots, other_dots));
    score[j] = dots;
    if (j + LOCAL < n) score[other] = other_dots;
#ifdef WEIGHTS
    put_scores(base + j, dots);
    if (j + LOCAL < n) put_scores(base + other, other_dots);
#endif
  }
  lane_top[lane] = mine;
}

// The sums over the keys so far, of weights and of weighted values.
S top, sum;
T acc[QT], more[QT];  // more: for lanes that hold two of the head's columns

void begin_sums() {
  top = S(MASKED);
  sum = S(0.0);
#if defined(STEP) && defined(BIAS)
  if (p.sink_column != 0u && chunk == 0u) {
    top = q_number(p.q_begin + row * p.ld + p.sink_column + head);
    sum = 1.0;
  }
#endif
  for (uint i = 0u; i < uint(QT); ++i) acc[i] = more[i] = T(0.0);
}

// Adds the n keys from `base` on, whose scores are known; `highest`: the greatest of these, and in whole sequences of
// all before. Each chunk is summed separately: one sum over all keys would lose digits when there are thousands. A step's chunks
// use their own maximum, so that they give the same bits in a workgroup of their own.
void sum_values(const uint base, const uint n, const S highest) {
  uint lane = gl_LocalInvocationID.x;
  S chunk_sum = S(0.0), now = max(top, highest), shrink = exp(top - now);
  top = now;
  T chunk_acc[QT], chunk_more[QT];
  for (uint i = 0u; i < uint(QT); ++i) chunk_acc[i] = chunk_more[i] = T(0.0);
  // Lanes without a column read a valid one and drop the result.
  uint member = TEAMS > 1u ? lane % PARTS : min(lane, PARTS - 1u), team = TEAMS > 1u ? lane / PARTS : 0u;
  uint column = PARTS + member, second = PARTS + min(lane + LOCAL, PARTS - 1u);
  for (uint j = team < TEAMS ? team : n; j < n; j += TEAMS) {
#ifdef ONE_QUERY
    if (waits() && !TWO_COLUMNS && j + 3u * TEAMS < n) {
      T values[4];
      [[unroll]] for (uint a = 0u; a < 4u; ++a) values[a] = kv_load(key_at(base, j + a * TEAMS) + column);
      [[unroll]] for (uint a = 0u; a < 4u; ++a) {
        float s = score[j + a * TEAMS];
        chunk_sum += s;
        chunk_acc[0] += s * values[a];
      }
      j += 3u * TEAMS;
      continue;
    }
#endif
    uint at = key_at(base, j);
    S s = score[j];
    chunk_sum += s;
    T value = kv_load(at + column);
    for (uint i = 0u; i < uint(QT); ++i) chunk_acc[i] += OF(s, i) * value;
    if (TWO_COLUMNS) {
      T value2 = kv_load(at + second);
      for (uint i = 0u; i < uint(QT); ++i) chunk_more[i] += OF(s, i) * value2;
    }
  }
#ifdef ONE_QUERY
  if (TEAMS > 1u) {
    team_acc[lane] = chunk_acc[0];
    team_sum[lane] = chunk_sum;
    barrier();
    chunk_acc[0] = team_acc[member];
    chunk_sum = team_sum[0];
    for (uint t = 1u; t < TEAMS; ++t) {
      chunk_acc[0] += team_acc[t * PARTS + member];
      chunk_sum += team_sum[t * PARTS];
    }
  }
  float grow = exp(highest - now);
  chunk_sum *= grow;
  chunk_acc[0] *= grow;
  chunk_more[0] *= grow;
#endif
  sum = sum * shrink + chunk_sum;
  for (uint i = 0u; i < uint(QT); ++i) acc[i] = acc[i] * OF(shrink, i) + chunk_acc[i];
  if (TWO_COLUMNS)
    for (uint i = 0u; i < uint(QT); ++i) more[i] = more[i] * OF(shrink, i) + chunk_more[i];
}

#ifdef ONE_QUERY
// One chunk's sums, for attention_quotient.comp.
void put_sums() {
  uint lane = gl_LocalInvocationID.x;
  uint at = (p.out_begin + ((head * p.rows + row) * p.chunks + chunk) * p.out_ld) / WIDTH;
  if (lane < PARTS) context[at + lane] = acc[0];
  if (TWO_COLUMNS && lane + LOCAL < PARTS) context[at + lane + LOCAL] = more[0];
  if (lane != 0u) return;
#ifdef VEC
  context[at + LAST] = vec4(top, sum, 0.0, 0.0);
#else
  context[at + LAST] = top;
  context[at + LAST + 1u] = sum;
#endif
}
#endif

// The context, and the weights if they are wanted; no keys at all give zeros.
void put_results() {
  uint lane = gl_LocalInvocationID.x;
  S inv;
  for (uint i = 0u; i < uint(QT); ++i) OF(inv, i) = OF(sum, i) > 0.0 ? 1.0 / OF(sum, i) : 0.0;
#if !defined(TERMS) || !defined(WEIGHTS)
  for (uint i = 0u; i < uint(QT); ++i)
    if (i < count) {
#ifdef WINDOW
      uint out_row = slot * p.queries + query[i];
#else
      uint out_row = first_row + i;
#endif
      uint out_at = p.out_begin + out_row * p.out_ld, at = (out_at + head * HEAD_DIM) / WIDTH;
      if (lane < PARTS) context[at + lane] = acc[i] * OF(inv, i);
      if (TWO_COLUMNS && lane + LOCAL < PARTS) context[at + lane + LOCAL] = more[i] * OF(inv, i);
#ifndef VEC
      // The padding after the last head.
      if (head + 1u == p.all_heads && lane < padding_of_context()) context[at + HEAD_DIM + lane] = 0.0;
#endif
      if (lane == 0u) put_log_sum(out_at, head, OF(top, i), OF(sum, i));
    }
#endif
#ifdef WEIGHTS
  put_weights(top, inv);
#endif
}

void main() {
  uint group = group_index(), lane = gl_LocalInvocationID.x;
  if (group >= p.groups || !find_place(group)) return;
#ifdef ONE_QUERY
  if (SPLIT != 0u) {
    from = min(to, from + chunk * CHUNK);
    to = min(to, from + CHUNK);
  }
#endif
  find_queries();
#ifdef TERMS
  find_segments();
#endif
  begin_sums();
  for (uint base = from; base < to; base = chunk_after(base)) {
    uint n = min(chunk_after(base), to) - base;
    score_keys(base, n);
    barrier();
#ifdef ONE_QUERY
    S highest = lane_top[0];
#else
    S highest = top;
#endif
    for (uint l = 0u; l < min(LOCAL, n); ++l) highest = max(highest, lane_top[l]);
    for (uint j = lane; j < n; j += LOCAL) score[j] = weight_of(score[j], highest);
    barrier();
    sum_values(base, n, highest);
    barrier();  // score is about to be overwritten
  }
#ifdef ONE_QUERY
  if (SPLIT != 0u) {
    put_sums();
    return;
  }
#endif
  put_results();
}
