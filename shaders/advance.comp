#version 450
// Runs as one workgroup after all sentences have stepped: advances the rows that go on, starts waiting sentences as far
// as there is room, packs the rows, and writes the log's header and the grids. With counts = 0 nothing has stepped: new
// sentences were admitted, or the session now has more positions.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "state.glsl"
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) coherent buffer Step { uint step_words[]; };
layout(std430, set = 0, binding = 1) coherent buffer Search { uint search[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Log { uint log_words[]; };
layout(std430, set = 0, binding = 3) buffer Grids { uint grids[]; };
#include "grids.glsl"
layout(push_constant) uniform P {
  uint groups;
  uint positions, beams, slots;
  uint rows;             // row capacity of the plan
  uint log_rows, ticks;  // rows per entry set of the log; tick rows of the log, a power of two
  uint counts;
} p;
shared uint running_of[64];
shared uint full_of[64];
shared uint live;

void put_rows(uint sentence, uint slot, uint position) {
  for (uint b = 0u; b < p.beams; ++b)
    step_words[STEP_ROWS + sentence * p.beams + b] = row_word_of(slot * p.beams + b, position);
}

// Sentences that go on, or wait for more positions. Each invocation handles a contiguous run of slots, which preserves
// their order.
uvec2 move_on(uint begin, uint end) {
  uvec2 count = uvec2(0u);
  for (uint s = begin; s < end; ++s) {
    uint at = search_record(s, p.beams), status = search[at + SEARCH_STATUS], position = search[at + SEARCH_POSITION];
    if (status != STATUS_RUNNING && status != STATUS_FULL) continue;
    if (status == STATUS_RUNNING && p.counts != 0u) search[at + SEARCH_POSITION] = ++position;
    bool room = position + 1u < p.positions;
    search[at + SEARCH_STATUS] = room ? STATUS_RUNNING : STATUS_FULL;
    count += room ? uvec2(1u, 0u) : uvec2(0u, 1u);
  }
  return count;
}

// Returns how many sentences run once the queue has been processed.
uint start_waiting(uint total, uint held, uint queued) {
  uint started = step_words[STEP_STARTED];
  while (started != queued && total + held < p.rows / p.beams) {
    uint slot = step_words[step_queue_word(started)], at = search_record(slot, p.beams);
    ++started;
    // A slot may have been left, or left and taken again, since it was queued.
    if (slot >= p.slots || search[at + SEARCH_STATUS] != STATUS_WAITING) continue;
    bool room = search[at + SEARCH_POSITION] + 1u < p.positions;
    search[at + SEARCH_STATUS] = room ? STATUS_RUNNING : STATUS_FULL;
    if (room) put_rows(total++, slot, search[at + SEARCH_POSITION]);
    else ++held;
  }
  step_words[STEP_STARTED] = started;
  step_words[STEP_QUEUED] = queued;
  return total;
}

void main() {
  uint lane = gl_LocalInvocationIndex;
  if (group_index() >= p.groups) return;
  uint share = div_up(p.slots, 64u);
  uint begin = min(lane * share, p.slots), end = min(begin + share, p.slots);
  uvec2 count = move_on(begin, end);
  running_of[lane] = count.x;
  full_of[lane] = count.y;
  hand_over();
  uint before = 0u, total = 0u, held = 0u;
  for (uint i = 0u; i < 64u; ++i) {
    if (i < lane) before += running_of[i];
    total += running_of[i];
    held += full_of[i];
  }
  for (uint s = begin; s < end; ++s) {
    uint at = search_record(s, p.beams);
    if (search[at + SEARCH_STATUS] != STATUS_RUNNING) continue;
    put_rows(before, s, search[at + SEARCH_POSITION]);
    ++before;
  }
  // Sentences started below must not count as running above.
  hand_over();
  if (lane == 0u) {
    uint tick = step_words[STEP_TICK], ran = step_words[STEP_LIVE], queued = step_words[STEP_QUEUED] + step_words[STEP_ADMITTED];
    live = start_waiting(total, held, queued) * p.beams;
    step_words[STEP_ADMITTED] = 0u;
    step_words[STEP_LIVE] = live;
    if (p.counts != 0u) {
      uint header = log_row_at(tick, p.ticks, p.log_rows);
      log_words[header + LOG_LIVE] = live;
      log_words[header + LOG_RAN] = ran;
      log_words[header + LOG_TICK] = tick;
      log_words[header + LOG_MARK] = step_words[STEP_MARK];
      step_words[STEP_TICK] = tick + 1u;
    }
  }
  barrier();
  for (uint i = lane; i < MAX_GRIDS; i += 64u) write_grid(i, live);
}
