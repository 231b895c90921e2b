#version 450
// Attention in its simplest form, for compilers that miscompile attention.comp: a workgroup takes one query of one
// head, each lane visits all keys for its own columns, and nothing is shared. Keys are summed in chunks and macros are
// as in attention.comp.
#extension GL_GOOGLE_include_directive : enable
#define SIMPLE
#include "attention_operands.glsl"
#include "attention_place.glsl"

const uint CHUNK = 128u;

void main() {
  uint group = group_index(), lane = gl_LocalInvocationID.x;
  if (group >= p.groups || !find_place(group)) return;
  if (one >= count) return;
#ifdef STEP
  uint own_query = 0u, q_row = p.q_begin + row * p.ld, out_row = row;
#else
  uint own_query = query[one], q_row = p.q_begin + (slot * p.queries + own_query) * p.ld;
#ifdef WINDOW
  uint out_row = slot * p.queries + own_query;
#else
  uint out_row = first_row + one;
#endif
#endif
  uint q_at = (q_row + head * HEAD_DIM) / WIDTH;
#ifdef TERMS
  uint by_query = q_at + p.bias_column / WIDTH, key_vectors = (p.key_column + head * p.key_stride) / WIDTH;
  vec2 own_terms = segment_terms(q_row, head);
#endif
#ifdef WEIGHTS
  uint wi = p.weights_begin + ((slot * p.all_heads + head) * p.queries + first + one) * p.weights_ld;
#endif
  // Lanes without a column read a valid one and drop the result.
  uint column = PARTS + min(lane, PARTS - 1u), second = PARTS + min(lane + LOCAL, PARTS - 1u);
  float top = MASKED, sum = 0.0;
#if defined(STEP) && defined(BIAS)
  if (p.sink_column != 0u) {
    top = q_number(q_row + p.sink_column + head);
    sum = 1.0;
  }
#endif
  T acc = T(0.0), more = T(0.0);
  for (uint base = from; base < to; base += CHUNK) {
    uint stop = min(base + CHUNK, to);
    float now = top, chunk_sum = 0.0;
    T chunk_acc = T(0.0), chunk_more = T(0.0);
    // The first turn finds the greatest score, the second sums.
    for (uint turn = 0u; turn < 2u; ++turn)
      for (uint j = base; j < stop; ++j) {
#if defined(STEP) && !defined(CROSS)
        uint at = kv_at(head, j == step ? slot : lineage[ancestry + j], j);
#elif defined(WINDOW)
        uint key = j < listed ? min(globals[list + 1u + j], p.keys - 1u) : first_key + j - listed;
        uint at = kv_at(head, slot, key);
#else
        uint at = kv_at(head, slot, j);
#endif
        float score = 0.0;
        // Steps of four, because llvmpipe limits the total iterations of all loops (docs/inside/adding-an-op.md).
        [[dont_unroll]] for (uint d = 0u; d < PARTS; d += 4u) {
          score += product(q[q_at + d], kv_load(at + d));
          if (d + 1u < PARTS) score += product(q[q_at + d + 1u], kv_load(at + d + 1u));
          if (d + 2u < PARTS) score += product(q[q_at + d + 2u], kv_load(at + d + 2u));
          if (d + 3u < PARTS) score += product(q[q_at + d + 3u], kv_load(at + d + 3u));
        }
#ifdef TERMS
        uint line = line_of(j, first + one + keys_before());
        [[dont_unroll]] for (uint d = 0u; d < PARTS; ++d) {
          if (uses(BY_QUERY)) score += product(q[by_query + d], vectors[line + key_vectors + d]);
          if (uses(BY_KEY)) score += product(kv_load(at + d), vectors[line + head * PARTS + d]);
        }
        if (uses(BY_SEGMENT)) {
          bool same = type_at(q_row) == type_of_key(slot * p.queries, j);
          score += same ? own_terms.x : own_terms.y;
        }
#endif
        score *= p.scale;
#ifdef CAPPED
        score = capped(score);
#endif
#if defined(BIAS) || defined(MAP_BIAS)
#ifdef STEP
        score += bias_of(j, step, head, q_row);
#else
#ifdef MAP_BIAS
        score += bias_of(j, first + one, head, slot);
#else
        score += bias_of(j, first + one, head, q_row);
#endif
#endif
#endif
#ifdef WINDOW
        if (p.global_queries == 0u) {
          // A listed key inside the window counts as part of the window.
          int back = int(own_query) - int(key);
          bool far = back > int(p.window) || -back > int(p.window_after);
          if (far != (j < listed) || key < begin || key >= end) score = MASKED;
        }
#elif defined(TERMS)
        // Beyond p.causal, and with a key after the query's own, which wraps.
        if (p.causal != 0u && own_query + keys_before() - j >= min(p.causal, 0x80000000u)) score = MASKED;
        if (is_hidden(slot, own_query, j)) score = MASKED;
#elif !defined(STEP)
        if (p.causal != 0u && j > own_query) score = MASKED;
#endif
        if (turn == 0u) {
          now = max(now, score);
#ifdef WEIGHTS
          if (j % LOCAL == lane) weights[wi + j] = score;
#endif
        } else {
          float weight = score > FORBIDDEN ? exp(score - now) : 0.0;
          chunk_sum += weight;
          chunk_acc += weight * kv_load(at + column);
          if (TWO_COLUMNS) chunk_more += weight * kv_load(at + second);
        }
      }
    float shrink = exp(top - now);
    top = now;
    sum = sum * shrink + chunk_sum;
    acc = acc * shrink + chunk_acc;
    if (TWO_COLUMNS) more = more * shrink + chunk_more;
  }
  float inv = sum > 0.0 ? 1.0 / sum : 0.0;  // no keys at all give zeros
#if !defined(TERMS) || !defined(WEIGHTS)
  uint out_at = p.out_begin + out_row * p.out_ld, at = (out_at + head * HEAD_DIM) / WIDTH;
  if (lane < PARTS) context[at + lane] = acc * inv;
  if (TWO_COLUMNS && lane + LOCAL < PARTS) context[at + lane + LOCAL] = more * inv;
#ifndef VEC
  // The padding after the last head.
  if (head + 1u == p.all_heads && lane < padding_of_context()) context[at + HEAD_DIM + lane] = 0.0;
#endif
  if (lane == 0u) put_log_sum(out_at, head, top, sum);
#endif
#ifdef WEIGHTS
  for (uint j = lane; j < p.weights_ld; j += LOCAL) {
    // A lane reads only scores that it wrote itself.
    float score = j >= begin && j < end ? weights[wi + j] : MASKED;
    weights[wi + j] = score > FORBIDDEN ? exp(score - top) * inv : 0.0;
  }
#endif
}
