#version 450
// Self attention of a step over a part of one head's cache, for caches too large for one binding. Uses a running
// softmax as in attention.comp over those keys of a row that lie in the part. Parts run in order, and `running` carries
// each row's softmax from one to the next: the weighted sum of the values, then maximum and sum of the weights. Chunks
// of positions are summed slot by slot: parts consist of whole chunks, so that the order of the sums does not depend on
// where the parts are cut. Macros: VEC, BIAS, as in attention.comp.
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#include "common.glsl"
#include "state.glsl"
#include "head_columns.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(constant_id = 1) const uint HEAD_DIM = 64;
layout(constant_id = 3) const uint GROUP = 1;  // heads of queries that share a head of keys and values

layout(std430, set = 0, binding = 0) readonly buffer Q { T q[]; };
#define KV_FORMAT_ID 2
#define SCORE_CAP_ID 4
#define BIAS_ROWS_ID 5
#include "kv_read.glsl"
#include "score_cap.glsl"
layout(std430, set = 0, binding = 2) readonly buffer Lineage { uint lineage[]; };
layout(std430, set = 0, binding = 3) buffer Running { T running[]; };

layout(push_constant) uniform P {
  uint groups;
  uint all_heads;
  uint head;
  uint slots, positions;         // strides of kv
  uint cell_begin, cell_end;     // in the bound part; cell = slot * positions + position
  uint kv_begin;                 // where the bound part begins, in numbers of kv
  uint running_begin;            // word of row 0
  uint ld, running_ld;           // row strides in words
  float scale;
  int bias_low;                  // the table's first distance (key - query), and how many follow
  uint bias_last;
  uint bias_column;              // BIAS_ROWS: column of q
  uint lineage_beam_slots, lineage_positions;
  uint beams;                    // slots per sentence
  uint chunk;                    // positions at a time, at most CHUNK
  uint window;                   // keys before its own that a row sees
  uint sink_column;              // BIAS: column of q with the first head's sink; 0: none
} p;

#ifdef BIAS
#include "relative_bias.glsl"
#endif

const uint CHUNK = 128u;
const uint ELSEWHERE = 0xffffffffu;
const float NOTHING = -2e30;  // below any masked score
shared float score[CHUNK];
shared uint found[CHUNK];  // index of each key in kv; ELSEWHERE: in another slot
shared float lane_top[128];
shared float before[2];    // maximum and sum of the preceding parts

const uint PARTS = HEAD_DIM / WIDTH;
const bool TWO_COLUMNS = LOCAL < PARTS;
const uint LAST = (HEAD_DIM + 3u) / 4u * 4u / WIDTH;  // where maximum and sum are in a row of `running`

void main() {
  uint row = group_index(), lane = gl_LocalInvocationID.x;
  if (row >= p.groups || row >= step_word(STEP_LIVE)) return;
  uint slot = beam_slot_of(row_word(row)), step = position_of(row_word(row));
  uint last = step % p.positions, end = min(step + 1u, p.positions);  // cells of a ring: of the row's own, and of all
  uint ancestry =
      lineage_word(lineage_parity(step), LINEAGE_ANCESTRY, slot, 0u, p.lineage_beam_slots, p.lineage_positions);
  uint leader = slot / p.beams * p.beams;  // the first slot of its sentence
  if (p.cell_end <= leader * p.positions || p.cell_begin >= (leader + p.beams) * p.positions) return;
  bool opens = p.cell_begin <= leader * p.positions;  // no earlier part has keys of this sentence

  uint at_row = (p.running_begin + row * p.running_ld) / WIDTH;
  T acc = T(0.0), more = T(0.0);  // `more`: for lanes that hold two of the head's columns
  if (lane == 0u) {
    before[0] = MASKED;
    before[1] = 0.0;
#ifdef BIAS
    if (p.sink_column != 0u) {
      before[0] = q_number(row * p.ld + p.sink_column + p.head);
      before[1] = 1.0;
    }
#endif
  }
  if (!opens) {
    if (lane < PARTS) acc = running[at_row + lane];
    if (TWO_COLUMNS && lane + LOCAL < PARTS) more = running[at_row + lane + LOCAL];
    if (lane == 0u) {
#ifdef VEC
      before[0] = running[at_row + LAST].x;
      before[1] = running[at_row + LAST].y;
#else
      before[0] = running[at_row + LAST];
      before[1] = running[at_row + LAST + 1u];
#endif
    }
  }
  barrier();
  float top = before[0], sum = before[1];
  uint query = (row * p.ld + p.head * HEAD_DIM) / WIDTH;
  uint first_slot = max(leader, p.cell_begin / p.positions);
  uint last_slot = min(leader + p.beams, div_up(p.cell_end, p.positions));
  for (uint part_slot = first_slot; part_slot < last_slot; ++part_slot)
    for (uint base = 0u; base < end; base += p.chunk) {
      uint cell = part_slot * p.positions + base;
      if (cell < p.cell_begin || cell >= p.cell_end) continue;
      uint n = min(p.chunk, end - base);
      barrier();  // all have read lane_top, found and score
      float mine = NOTHING;
      for (uint j = lane; j < n; j += LOCAL) {
        uint back = last >= base + j ? last - base - j : last + p.positions - base - j;
        uint position = step - back;
        found[j] = ELSEWHERE;
        if (back > p.window) continue;
        uint holder = back == 0u ? slot : lineage[ancestry + position];
        if (holder != part_slot) continue;
        uint at = ((p.head / GROUP * p.slots * p.positions + cell + j) * 2u * HEAD_DIM - p.kv_begin) / WIDTH;
        float dots = 0.0;
        [[dont_unroll]] for (uint d = 0u; d < PARTS; d += KV_EACH) {
          KV_WORDS words = kv_words((at + d) / KV_EACH);
          [[unroll]] for (uint e = 0u; e < KV_EACH; ++e)
            if (PARTS % KV_EACH == 0u || d + e < PARTS) dots += product(q[query + d + e], kv_element(words, e));
        }
        dots = capped(dots * p.scale);
#ifdef BIAS
        dots += bias_of(position, step, p.head, row * p.ld);
#endif
        mine = max(max(mine, MASKED), dots);
        found[j] = at;
        score[j] = dots;
      }
      lane_top[lane] = mine;
      barrier();
      float highest = NOTHING;
      for (uint l = 0u; l < min(LOCAL, n); ++l) highest = max(highest, lane_top[l]);
      if (highest == NOTHING) continue;  // the row has no key here
      float now = max(top, highest), shrink = exp(top - now);
      top = now;
      for (uint j = lane; j < n; j += LOCAL)
        if (found[j] != ELSEWHERE) score[j] = exp(score[j] - now);
      barrier();
      // Each chunk is summed separately, as in attention.comp.
      float chunk_sum = 0.0;
      T chunk_acc = T(0.0), chunk_more = T(0.0);
      // Lanes without a column read a valid one and drop the result.
      uint column = PARTS + min(lane, PARTS - 1u);
      uint second = PARTS + min(lane + LOCAL, PARTS - 1u);
      for (uint j = 0u; j < n; ++j) {
        uint at = found[j];
        if (at == ELSEWHERE) continue;
        float s = score[j];
        chunk_sum += s;
        chunk_acc += s * kv_load(at + column);
        if (TWO_COLUMNS) chunk_more += s * kv_load(at + second);
      }
      sum = sum * shrink + chunk_sum;
      acc = acc * shrink + chunk_acc;
      if (TWO_COLUMNS) more = more * shrink + chunk_more;
    }
  if (lane < PARTS) running[at_row + lane] = acc;
  if (TWO_COLUMNS && lane + LOCAL < PARTS) running[at_row + lane + LOCAL] = more;
  if (lane == 0u) {
#ifdef VEC
    running[at_row + LAST] = vec4(top, sum, 0.0, 0.0);
#else
    running[at_row + LAST] = top;
    running[at_row + LAST + 1u] = sum;
#endif
  }
}
