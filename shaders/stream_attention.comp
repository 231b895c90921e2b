#version 450
// Attention of a predicting stream of ProphetNet (Qi et al. 2020): over the main stream's keys and the position's own
// one, with a bias that the query's row holds per distance to the key. A workgroup takes one row and head; running
// softmax as in attention.comp. -DSTEP: one position per row, and the cache is read through lineage.
#extension GL_GOOGLE_include_directive : enable
#ifdef STEP
#define USE_STEP
#else
#define USE_LENGTHS
#endif
#include "common.glsl"
#include "state.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(constant_id = 1) const uint HEAD_DIM = 64;

layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
#ifdef STEP
#define KV_FORMAT_ID 2
#endif
#include "head_columns.glsl"
#include "kv_read.glsl"
#ifdef STEP
layout(std430, set = 0, binding = 2) readonly buffer Lineage { uint lineage[]; };
#endif
layout(std430, set = 0, binding = 3) writeonly buffer Out { float context[]; };
layout(std140, set = 0, binding = 5) uniform Distances { vec4 buckets[1024]; };  // bucket of each distance

layout(push_constant) uniform P {
  uint groups;
  uint all_heads;
  uint heads, head_begin;       // of the slice
  uint slots, positions;        // strides of kv
  uint slot_begin, slot_end;    // in the bound part
  uint kv_begin;                // where the bound part begins, in numbers of kv
  uint q_begin, out_begin;      // words: where row 0 would begin (may wrap)
  uint ld, out_ld;              // row strides in words
  float scale;
  int bias_low;                 // the table's first distance, and how many follow
  uint bias_last, bias_column;
  uint own_column;              // column of the rows' own keys and values
  uint stream;
#ifdef STEP
  uint lineage_beam_slots, lineage_positions;
#else
  uint queries, query_begin, query_count;  // queries of a sentence; those of the slice
#endif
} p;

const uint CHUNK = 128u;  // keys at a time; a multiple of LOCAL
shared float score[CHUNK];
shared uint found[CHUNK];  // index of each key in kv
shared float lane_top[128];

// Offset of the bias from its column, for the distance (key - query).
uint bias_word(int distance, uint head) {
  uint i = uint(clamp(distance - p.bias_low, 0, int(p.bias_last)));
  return uint(buckets[i >> 2][i & 3u]) * p.all_heads + head;
}

void main() {
  uint group = group_index(), lane = gl_LocalInvocationID.x;
  if (group >= p.groups) return;
#ifdef STEP
  uint row = group / p.heads, head = p.head_begin + group % p.heads;
  if (row >= step_word(STEP_LIVE)) return;
  uint slot = beam_slot_of(row_word(row)), query = position_of(row_word(row));
  if (slot < p.slot_begin || slot >= p.slot_end) return;
  uint length = p.positions;
  uint ancestry =
      lineage_word(lineage_parity(query), LINEAGE_ANCESTRY, slot, 0u, p.lineage_beam_slots, p.lineage_positions);
#else
  uint head = p.head_begin + group % p.heads, rest = group / p.heads;
  uint slot = p.slot_begin + rest / p.query_count, query = p.query_begin + rest % p.query_count;
  uint row = slot * p.queries + query, length = min(length_word(2u * slot + 1u), p.positions);
#endif
  // Stream s sees the keys up to s positions before its own, and always the first key.
  uint end = min(length, query + 1u > p.stream ? query + 1u - p.stream : 1u);
  end = min(length, max(end, 1u));
  uint first = p.q_begin + row * p.ld, q = first + head * HEAD_DIM, bias = first + p.bias_column;
  uint own = first + p.own_column + head * 2u * HEAD_DIM;
  // Lanes without a column read a valid one and drop the result.
  uint column = min(lane, HEAD_DIM - 1u), second = min(lane + LOCAL, HEAD_DIM - 1u);

  // The own key comes first.
  float top = 0.0, sum = 1.0;
  for (uint d = 0u; d < HEAD_DIM; ++d) top += x[q + d] * x[own + d];
  top = top * p.scale + x[bias + bias_word(0, head)];
  float acc = x[own + HEAD_DIM + column], more = x[own + HEAD_DIM + second];
  for (uint base = 0u; base < end; base += CHUNK) {
    uint n = min(CHUNK, end - base);
    float best = MASKED;
    for (uint j = lane; j < n; j += LOCAL) {
      uint key = base + j;
#ifdef STEP
      uint holder = key == query ? slot : lineage[ancestry + key];
#else
      uint holder = slot;
#endif
      uint at = ((head * p.slots + holder) * p.positions + key) * 2u * HEAD_DIM - p.kv_begin;
      float dots = 0.0;
      for (uint d = 0u; d < HEAD_DIM; ++d) dots += x[q + d] * kv_load(at + d);
      dots = dots * p.scale + x[bias + bias_word(int(key) - int(query) - 1, head)];
      found[j] = at;
      score[j] = dots;
      best = max(best, dots);
    }
    lane_top[lane] = best;
    barrier();
    float now = top;
    for (uint l = 0u; l < min(LOCAL, n); ++l) now = max(now, lane_top[l]);
    float shrink = exp(top - now);
    top = now;
    for (uint j = lane; j < n; j += LOCAL) score[j] = exp(score[j] - now);
    barrier();
    // Each chunk is summed separately: one sum over all keys would lose digits when there are thousands.
    float chunk_sum = 0.0, chunk_acc = 0.0, chunk_more = 0.0;
    for (uint j = 0u; j < n; ++j) {
      uint at = found[j] + HEAD_DIM;
      chunk_sum += score[j];
      chunk_acc += score[j] * kv_load(at + column);
      chunk_more += score[j] * kv_load(at + second);
    }
    sum = sum * shrink + chunk_sum;
    acc = acc * shrink + chunk_acc;
    more = more * shrink + chunk_more;
    barrier();  // score is about to be overwritten
  }
  float inv = 1.0 / sum;  // the sum is at least about 1, its largest term
  uint at = p.out_begin + row * p.out_ld + head * HEAD_DIM;
  if (lane < HEAD_DIM) context[at + lane] = acc * inv;
  if (lane + LOCAL < HEAD_DIM) context[at + lane + LOCAL] = more * inv;
  // The padding after the last head.
  if (head + 1u == p.all_heads && lane < p.out_ld - p.all_heads * HEAD_DIM) context[at + HEAD_DIM + lane] = 0.0;
}
