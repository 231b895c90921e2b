#version 450
// Attention with a running softmax (Milakov and Gimelshein 2018), without an n x n buffer. A workgroup takes QT queries
// of one head: lanes run along the keys for the scores, then along the columns of the head for the sums. Macros: VEC
// (head size a multiple of 4: vec4), WEIGHTS (writes the weights too), STEP (one query per row of a step; CROSS: keys
// are those of the source), BIAS (by relative position: a table, or values behind the columns of q), MAP_BIAS (for
// windows of a map), WINDOW (keys near the query, and listed ones), SPANS (rows of an encode pass: queries and keys are
// counted through the whole pass, as if it were one sentence), TEXELS (see kv_read.glsl).
#extension GL_GOOGLE_include_directive : enable
#include "attention_operands.glsl"

// S holds one number for each of the QT queries.
#ifdef STEP
#define S float
#define OF(s, i) (s)
#else
#define S vec4
#define OF(s, i) (s)[i]
#endif

// Loads of keys and values in flight at a time. A step's workgroup has a GPU core nearly to itself and stalls on each
// load; the small workgroups of a CPU driver never stall.
#ifdef STEP
bool waits() { return LOCAL > 8u; }
uint keys_ahead() { return waits() && PARTS % (4u * KV_EACH) == 0u ? 4u : 1u; }
#else
uint keys_ahead() { return 1u; }
#endif
const uint CHUNK = 128u;  // keys at a time; a multiple of LOCAL; equals kAttentionChunk of attention_parts.hpp
shared S score[CHUNK];
shared S lane_top[128];
// Where a head has fewer columns than a workgroup has lanes, teams of lanes share the keys whose values are summed.
#ifdef STEP
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
#ifdef STEP
  return exp(score_now - top);
#else
  return mix(vec4(0.0), exp(score_now - top), greaterThan(score_now, vec4(FORBIDDEN)));
#endif
}

#ifdef STEP
// Location of key j of the chunk.
uint key_at(const uint slot, const uint head, const uint base, const uint j) {
#ifdef FOUND
  return found[j];
#else
  return kv_at(head, slot, base + j);
#endif
}
#endif

void main() {
  uint group = group_index(), lane = gl_LocalInvocationID.x;
  if (group >= p.groups) return;
#include "attention_place.glsl"
#ifdef STEP
  if (SPLIT != 0u) {
    from = min(to, from + chunk * CHUNK);
    to = min(to, from + CHUNK);
  }
#endif

  S top = S(MASKED), sum = S(0.0);
  T acc[QT];
  for (uint i = 0u; i < uint(QT); ++i) acc[i] = T(0.0);
  T more[QT];  // for lanes that hold two of the head's columns
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
      // The constant bound invites unrolling, which would hoist the loads of all turns and exhaust a GPU's registers.
      [[dont_unroll]] for (uint turn = 0u; turn < PARTS; turn += keys_ahead() * KV_EACH)
        [[unroll]] for (uint a = 0u; a < keys_ahead(); ++a) {
          uint d = turn + a * KV_EACH;
          KV_WORDS key_words = kv_words((at + d) / KV_EACH), other_words = kv_words((other_at + d) / KV_EACH);
          [[unroll]] for (uint e = 0u; e < KV_EACH; ++e) {
            if (PARTS % KV_EACH != 0u && d + e >= PARTS) continue;
            T key_part = kv_piece(key_words, e), other_part = kv_piece(other_words, e);
            for (uint i = 0u; i < uint(QT); ++i) {
              T part = q[qs[i] + d + e];
              OF(dots, i) += product(part, key_part);
              OF(other_dots, i) += product(part, other_part);
            }
          }
        }
      dots *= p.scale;
      other_dots *= p.scale;
#if defined(BIAS) || defined(MAP_BIAS)
#ifdef STEP
      dots += bias_of(base + j, step, head, p.q_begin + row * p.ld);
      other_dots += bias_of(base + other, step, head, p.q_begin + row * p.ld);
#else
      for (uint i = 0u; i < uint(QT); ++i) {
#ifdef MAP_BIAS
        uint q_row = slot;
#else
        uint q_row = p.q_begin + (first_row + min(i, count - 1u)) * p.ld;
#endif
        dots[i] += bias_of(base + j, first + i, head, q_row);
        other_dots[i] += bias_of(base + other, first + i, head, q_row);
      }
#endif
#endif
#ifdef WINDOW
      if (p.global_queries == 0u) {
        // A listed key inside the window counts as part of the window.
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
#ifdef STEP
    S highest = lane_top[0];
#else
    S highest = top;
#endif
    for (uint l = 0u; l < min(LOCAL, n); ++l) highest = max(highest, lane_top[l]);
    S now = max(top, highest), shrink = exp(top - now);
    top = now;
    for (uint j = lane; j < n; j += LOCAL) score[j] = weight_of(score[j], highest);
    barrier();
    // Each chunk is summed separately: one sum over all keys would lose digits when there are thousands. A step's
    // chunks use their own maximum, so that they give the same bits in a workgroup of their own.
    S chunk_sum = S(0.0);
    T chunk_acc[QT], chunk_more[QT];
    for (uint i = 0u; i < uint(QT); ++i) chunk_acc[i] = chunk_more[i] = T(0.0);
    // Lanes without a column read a valid one and drop the result.
    uint member = TEAMS > 1u ? lane % PARTS : min(lane, PARTS - 1u), team = TEAMS > 1u ? lane / PARTS : 0u;
    uint column = PARTS + member;
    uint second = PARTS + min(lane + LOCAL, PARTS - 1u);
    for (uint j = team < TEAMS ? team : n; j < n; j += TEAMS) {
#ifdef STEP
      if (waits() && !TWO_COLUMNS && j + 3u * TEAMS < n) {
        T values[4];
        [[unroll]] for (uint a = 0u; a < 4u; ++a) values[a] = kv_load(key_at(slot, head, base, j + a * TEAMS) + column);
        [[unroll]] for (uint a = 0u; a < 4u; ++a) {
          float s = score[j + a * TEAMS];
          chunk_sum += s;
          chunk_acc[0] += s * values[a];
        }
        j += 3u * TEAMS;
        continue;
      }
#endif
#ifdef FOUND
      uint at = found[j];
#else
      uint at = kv_at(head, slot, base + j);
#endif
      S s = score[j];
      chunk_sum += s;
      T value = kv_load(at + column);
      for (uint i = 0u; i < uint(QT); ++i) chunk_acc[i] += OF(s, i) * value;
      if (TWO_COLUMNS) {
        T value2 = kv_load(at + second);
        for (uint i = 0u; i < uint(QT); ++i) chunk_more[i] += OF(s, i) * value2;
      }
    }
#ifdef STEP
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
    barrier();  // score is about to be overwritten
  }
#ifdef STEP
  if (SPLIT != 0u) {
    uint at = (p.out_begin + ((head * p.rows + row) * p.chunks + chunk) * p.out_ld) / WIDTH;
    if (lane < PARTS) context[at + lane] = acc[0];
    if (TWO_COLUMNS && lane + LOCAL < PARTS) context[at + lane + LOCAL] = more[0];
    if (lane == 0u) {
#ifdef VEC
      context[at + LAST] = vec4(top, sum, 0.0, 0.0);
#else
      context[at + LAST] = top;
      context[at + LAST + 1u] = sum;
#endif
    }
    return;
  }
#endif
  S inv;  // no keys at all give zeros
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
      // The padding after the last head.
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
