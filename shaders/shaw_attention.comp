#version 450
// Self attention with a vector for each distance, which is added to keys and values (Shaw et al. 2018). A workgroup
// takes one row and head; running softmax as in attention.comp. -DSTEP: one position per row, and the cache is read
// through lineage; -DSPANS: the rows of an encode pass.
#extension GL_GOOGLE_include_directive : enable
#ifdef STEP
#define USE_STEP
#elif defined(SPANS)
#define USE_SPANS
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
layout(std140, set = 0, binding = 7) uniform Vectors { vec4 vectors[1024]; };  // [2 * reach + 1][HEAD_DIM]

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
  int bias_low;                 // unused, as the next two
  uint bias_last, bias_column;
  uint reach, causal;
#ifdef STEP
  uint lineage_beam_slots, lineage_positions;
#else
  uint queries, query_begin, query_count;  // queries of a sentence; those of the slice
#endif
} p;

const uint CHUNK = 128u;  // keys at a time; a multiple of LOCAL
shared float score[CHUNK];
shared uint found[CHUNK];  // index of each key in kv
shared uint line[CHUNK];   // where its vector begins
shared float lane_top[128];

float vector_at(const uint at) { return vectors[at >> 2][at & 3u]; }

uint head, row, slot, query;
uint begin, end;  // keys
#ifdef STEP
uint ancestry;
#endif

// False: the group has nothing to do.
bool find_place(uint group) {
  head = p.head_begin + group % p.heads;
  uint rest = group / p.heads;
#ifdef STEP
  row = rest;
  if (row >= step_word(STEP_LIVE)) return false;
  slot = beam_slot_of(row_word(row));
  query = position_of(row_word(row));
  begin = 0u;
  end = min(query + 1u, p.positions);
  ancestry = lineage_word(lineage_parity(query), LINEAGE_ANCESTRY, slot, 0u, p.lineage_beam_slots, p.lineage_positions);
  return slot >= p.slot_begin && slot < p.slot_end;
#elif defined(SPANS)
  uint sentence;
  row = query = p.query_begin + rest;
  slot = 0u;
  uvec4 span = span_of(row, SPAN_ROW, sentence);
  begin = span[SPAN_ROW];
  if (row - begin >= span[SPAN_IDS]) return false;
  end = begin + span[SPAN_IDS];
  if (p.causal != 0u) end = row + 1u;
  return true;
#else
  slot = p.slot_begin + rest / p.query_count;
  query = p.query_begin + rest % p.query_count;
  row = slot * p.queries + query;
  begin = min(length_word(2u * slot), p.positions);
  end = min(length_word(2u * slot + 1u), p.positions);
  if (p.causal != 0u) end = min(end, query + 1u);
  return true;
#endif
}

void main() {
  uint group = group_index(), lane = gl_LocalInvocationID.x;
  if (group >= p.groups || !find_place(group)) return;
  uint q = p.q_begin + row * p.ld + head * HEAD_DIM;
  // Lanes without a column read a valid one and drop the result.
  uint column = min(lane, HEAD_DIM - 1u), second = min(lane + LOCAL, HEAD_DIM - 1u);
  float top = MASKED, sum = 0.0, acc = 0.0, more = 0.0;
  for (uint base = begin; base < end; base += CHUNK) {
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
      uint vector = uint(clamp(int(key) - int(query), -int(p.reach), int(p.reach)) + int(p.reach)) * HEAD_DIM;
      float dots = 0.0;
      // Steps of four, because llvmpipe limits the total iterations of all loops (docs/inside/adding-an-op.md).
      [[dont_unroll]] for (uint d = 0u; d < HEAD_DIM; d += 4u) {
        dots += x[q + d] * (kv_load(at + d) + vector_at(vector + d));
        if (d + 1u < HEAD_DIM) dots += x[q + d + 1u] * (kv_load(at + d + 1u) + vector_at(vector + d + 1u));
        if (d + 2u < HEAD_DIM) dots += x[q + d + 2u] * (kv_load(at + d + 2u) + vector_at(vector + d + 2u));
        if (d + 3u < HEAD_DIM) dots += x[q + d + 3u] * (kv_load(at + d + 3u) + vector_at(vector + d + 3u));
      }
      dots *= p.scale;
      found[j] = at;
      line[j] = vector;
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
      chunk_acc += score[j] * (kv_load(at + column) + vector_at(line[j] + column));
      chunk_more += score[j] * (kv_load(at + second) + vector_at(line[j] + second));
    }
    sum = sum * shrink + chunk_sum;
    acc = acc * shrink + chunk_acc;
    more = more * shrink + chunk_more;
    barrier();  // score is about to be overwritten
  }
  float inv = sum > 0.0 ? 1.0 / sum : 0.0;  // no keys at all give zeros
  uint at = p.out_begin + row * p.out_ld + head * HEAD_DIM;
  if (lane < HEAD_DIM) context[at + lane] = acc * inv;
  if (lane + LOCAL < HEAD_DIM) context[at + lane + LOCAL] = more * inv;
  // The padding after the last head.
  if (head + 1u == p.all_heads && lane < p.out_ld - p.all_heads * HEAD_DIM) context[at + HEAD_DIM + lane] = 0.0;
}
