#version 450
// Normalizes the heads of keys that a product has written (ops/attention/norm_keys.hpp): an invocation takes a head of
// a row. SPANS: rows of an encode pass, in the slots of their sentences.
#extension GL_GOOGLE_include_directive : enable
#ifdef SPANS
#define USE_SPANS
#define KV_FORMAT_ID 1
#endif
#include "common.glsl"
#include "state.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
#define KV_BINDING 0
#include "panel.glsl"
#include "kv_write.glsl"
layout(std430, set = 0, binding = 1) readonly buffer Weights { float weights[]; };  // of queries, then of keys
layout(push_constant) uniform P {
  uint groups;
  uint rows, head_dim;
  uint rows_per_slot, slots, positions;  // of kv
  uint head_begin, head_end;             // heads of kv bound here; other dispatches handle the rest
  uint cell_begin, cell_end;             // likewise cells, slot * positions + position
  uint kv_begin;                         // where the bound part begins, in numbers of kv
  float epsilon;
} p;

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint heads = p.head_end - p.head_begin, i = group * LOCAL + gl_LocalInvocationID.x, row = i / heads;
  if (row >= p.rows) return;
#ifdef SPANS
  uint sentence;
  uvec4 span = span_of(row, SPAN_ROW, sentence);
  uint slot = span[SPAN_SLOT], position = row - span[SPAN_ROW];
  if (position >= span[SPAN_IDS]) return;
#else
  uint slot = row / p.rows_per_slot, position = row - slot * p.rows_per_slot;
#endif
  uint cell = slot * p.positions + position;
  if (cell < p.cell_begin || cell >= p.cell_end) return;
  uint head = p.head_begin + i % heads;
  uint at = (head * p.slots * p.positions + cell) * 2u * p.head_dim - p.kv_begin;
  // The numbers of a head are pairs; behind an odd number of them, the last one's neighbour is a value and stays.
  float sum = 0.0;
  for (uint c = 0u; c < p.head_dim; c += 2u) {
    vec2 v = kv_pair(at + c);
    sum += v.x * v.x + (c + 1u < p.head_dim ? v.y * v.y : 0.0);
  }
  float factor = inversesqrt(sum / float(p.head_dim) + p.epsilon);
  uint of_keys = (p.head_dim + 3u) / 4u * 4u;
  for (uint c = 0u; c < p.head_dim; c += 2u) {
    vec2 v = kv_pair(at + c);
    float last = c + 1u < p.head_dim ? v.y * factor * weights[of_keys + c + 1u] : v.y;
    store_kv_pair(at + c, vec2(v.x * factor * weights[of_keys + c], last));
  }
}
