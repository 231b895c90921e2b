#version 450
// Greedy bookkeeping, one invocation per row: joins the slices' maxima, adds the log-probability of the chosen id to
// the running score, and writes search state, lineage and log. DRAW: joins drawn ids by their keys.
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#include "common.glsl"
#include "state.glsl"
#include "search.glsl"
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Partials { uvec4 partials[]; };  // see argmax.comp
layout(std430, set = 0, binding = 1) buffer Search { uint search[]; };
layout(push_constant) uniform P {
  uint groups;
  uint beam_slots, positions;
  uint slices, ld4;
  uint log_rows, ticks;  // of the log; ticks: a power of two
} p;
uint base;  // where the sentence begins in `search`
uint param(uint i) { return search[base + i]; }
#include "bookkeeping.glsl"

// The joined result of all slices.
struct Chosen {
  uint id;
  float log_probability;
  bool failed;  // some score is not a number
};

#ifdef DRAW
Chosen choose(uint row) {
  float best = MASKED, sum = 0.0, key = MASKED, most = MASKED;
  uint id = NO_ID;
  bool failed = false;
  for (uint s = 0u; s < p.slices; ++s) {
    uvec4 part = partials[row * p.ld4 + s];
    failed = failed || no_number(part.x) || no_number(part.w);
    float here = uintBitsToFloat(part.x), part_sum = uintBitsToFloat(part.w), m = max(most, part_sum);
    sum = sum * exp(most - m) + exp(part_sum - m);
    most = m;
    if (better(here, part.y, key, id)) {
      key = here;
      id = part.y;
      best = uintBitsToFloat(part.z);
    }
  }
  return Chosen(id, forbidden(best) ? MASKED : best - most - log(max(sum, 1e-30)), failed);
}
#else
Chosen choose(uint row) {
  float best = MASKED, sum = 0.0;
  uint id = NO_ID;
  bool failed = false;
  for (uint s = 0u; s < p.slices; ++s) {
    uvec4 part = partials[row * p.ld4 + s];
    failed = failed || no_number(part.x) || no_number(part.w);
    float score = uintBitsToFloat(part.x), m = max(best, score);
    sum = sum * exp(best - m) + uintBitsToFloat(part.w) * exp(score - m);
    if (better(score, part.y, best, id)) id = part.y;
    best = m;
  }
  return Chosen(id, forbidden(best) ? MASKED : -log(max(sum, 1e-30)), failed);
}
#endif

void main() {
  uint row = group_index() * 64u + gl_LocalInvocationIndex;
  if (row >= step_word(STEP_LIVE)) return;
  uint t = position_of(row_word(row)), beam_slot = beam_slot_of(row_word(row));
  if (t + 1u >= p.positions) return;
  base = search_record(beam_slot, 1u);
  uint entry = log_entry_of(row);
  float running = uintBitsToFloat(search[base + search_running(0u)]);
  Chosen chosen = choose(row);
  // Drivers disagree on the best of values that are not numbers.
  uint token = chosen.failed || chosen.id == NO_ID ? param(P_PAD) : chosen.id, note = 0u;
  running = forbidden(chosen.log_probability) || forbidden(running) ? MASKED : running + chosen.log_probability;
  if (chosen.failed) {
    running = MASKED;
    search[base + SEARCH_STATUS] = STATUS_ENDED;
    note = LOG_NOTE_ENDED | LOG_NOTE_FAILED;
  } else if (reaches_limit(t) || is_end(token)) {
    float divisor = length_divisor(generated_with(t), uintBitsToFloat(param(P_LENGTH_PENALTY)));
    search[base + SEARCH_STATUS] = STATUS_ENDED;
    note = LOG_NOTE_ENDED | (1u << LOG_NOTE_COUNT_SHIFT);
    uint finished = entry + LOG_FINISHED;
    log_words[finished + FINISHED_SCORE] = floatBitsToUint(forbidden(running) ? MASKED : running / divisor);
    log_words[finished + FINISHED_POSITION] = t;
    log_words[finished + FINISHED_BEAM] = 0u;
    log_words[finished + FINISHED_TOKEN] = token;
  }
  search[base + search_running(0u)] = floatBitsToUint(running);
  // The other parity already holds the positions before t: a beam slot continues itself.
  uint now = lineage_parity(t), then = lineage_parity(t + 1u);
  for (uint plane = LINEAGE_ANCESTRY; plane <= LINEAGE_TOKENS; ++plane)
    lineage[lineage_at(then, plane, beam_slot, t)] = lineage[lineage_at(now, plane, beam_slot, t)];
  append_token(beam_slot, t, token);
  write_log(entry, row, token, 0u, floatBitsToUint(running), note);
}
