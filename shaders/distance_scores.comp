#version 450
// Scores by distance of a step (ops/attention/distance_scores.hpp): a workgroup takes one head of one row. Macros: VEC
// (heads are whole vec4s), PREFIX (only rows of prompts see all before them; the search state tells their number).
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#include "common.glsl"
#include "state.glsl"
#include "head_columns.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(constant_id = 1) const uint HEAD_DIM = 64;
layout(std430, set = 0, binding = 0) readonly buffer Q { T q[]; };
layout(std430, set = 0, binding = 1) readonly buffer Lines { T lines[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Y { float y[]; };
#ifdef PREFIX
layout(std430, set = 0, binding = 3) readonly buffer Search { uint search[]; };
#endif
layout(push_constant) uniform P {
  uint groups;
  uint heads;
  uint buckets, line_count;     // rows of the buffer of lines
  uint memory, same, prompt;
  uint beams;
  uint ld, line_ld, y_ld;  // row strides in words
  uint y_cols, column;     // columns of y; that of the first bucket, and of the products with lines in q
  uint q_begin, y_begin;   // words
  float scale;
} p;
#define STAGE 0  // only join()
#include "log_sum.glsl"
shared vec2 part[128];
const uint PARTS = HEAD_DIM / WIDTH;

// The greatest distance that the row sees.
uint reach_of(const uint word, const uint position) {
  if (p.same != 0u) return p.memory - 1u;
  bool given = p.prompt != 0u;
#ifdef PREFIX
  given = given || position < search[search_record(beam_slot_of(word) / p.beams, p.beams) + P_PREFIX];
#endif
  return given ? position + p.memory : p.memory;
}

// Positions before the text that bucket `b` stands for.
uint ghosts_of(const uint b, const uint position, const uint reach) {
  uint first = max(b, position + 1u), last = b + 1u == p.buckets ? reach : min(b, reach);
  return last >= first ? last - first + 1u : 0u;
}

float score_of(const uint b, const uint from, const uint head) {
  uint line = (min(b, p.line_count - 1u) * p.line_ld + head * HEAD_DIM) / WIDTH;
  float dots = 0.0;
  [[dont_unroll]] for (uint d = 0u; d < PARTS; ++d) dots += product(q[from + d], lines[line + d]);
  return dots * p.scale;
}

void main() {
  uint group = group_index(), lane = gl_LocalInvocationIndex;
  if (group >= p.groups) return;
  uint row = group / p.heads, head = group % p.heads;
  if (row >= step_word(STEP_LIVE)) return;
  uint position = position_of(row_word(row)), reach = reach_of(row_word(row), position);
  uint from = (p.q_begin + row * p.ld + p.column + head * HEAD_DIM) / WIDTH, to = p.y_begin + row * p.y_ld;
  vec2 own = vec2(MASKED, 0.0);
  for (uint b = lane; b < p.buckets; b += LOCAL) {
    float score = score_of(b, from, head);
    y[to + p.column + b * p.heads + head] = p.same == 0u && b > reach ? MASKED : score;
    uint ghosts = ghosts_of(b, position, reach);
    if (ghosts != 0u) own = join(own, vec2(score, float(ghosts)));
  }
  part[lane] = own;
  // The row's other columns, and the padding.
  for (uint d = lane; d < HEAD_DIM; d += LOCAL)
#ifdef VEC
    y[to + head * HEAD_DIM + d] = q[(p.q_begin + row * p.ld + head * HEAD_DIM + d) / 4u][d & 3u];
#else
    y[to + head * HEAD_DIM + d] = q[p.q_begin + row * p.ld + head * HEAD_DIM + d];
#endif
  if (head + 1u == p.heads) {
    for (uint c = p.heads * HEAD_DIM + lane; c < p.column; c += LOCAL) y[to + c] = 0.0;
    for (uint c = p.y_cols + lane; c < p.y_ld; c += LOCAL) y[to + c] = 0.0;
  }
  barrier();
  for (uint s = LOCAL >> 1; s > 0u; s >>= 1) {
    if (lane < s) part[lane] = join(part[lane], part[lane + s]);
    barrier();
  }
  if (lane != 0u) return;
  y[to + p.column + p.buckets * p.heads + head] = part[0].y > 0.0 ? part[0].x + log(part[0].y) : MASKED;
}
