#version 450
// Greedy bookkeeping, one invocation a row: joins the slices' maxima, adds the log-probability of the chosen id to the
// running score, and writes search state, lineage and log. DRAW: joins drawn ids by their keys.
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#define USE_PARAMS
#include "common.glsl"
#include "state.glsl"
#include "search.glsl"
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Partials { uvec4 partials[]; };  // see argmax.comp
layout(std430, set = 0, binding = 1) buffer Search { uint search[]; };
layout(std430, set = 0, binding = 2) buffer Lineage { uint lineage[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Log { uint log_words[]; };
layout(push_constant) uniform P {
  uint groups;
  uint slots, positions;
  uint slices, ld4;
} p;

uint lineage_word(uint parity, uint plane, uint slot, uint position) {
  return ((parity * 2u + plane) * p.slots + slot) * p.positions + position;
}

void main() {
  uint row = group_index() * 64u + gl_LocalInvocationIndex;
  if (row >= step_word(STEP_LIVE)) return;
  uint t = step_word(STEP_STEP), slot = step_word(STEP_ROW_SLOT + row);
  if (t + 1u >= p.positions) return;
  uint parity = t & 1u, base = slot * (SEARCH_HEADER + 5u);
  float running = uintBitsToFloat(search[base + SEARCH_HEADER]);
  bool given = t + 1u < param(P_PREFIX);
  uint token;
  if (given) {
    token = lineage[lineage_word(parity, 1u, slot, t + 1u)];
  } else {
    float best = MASKED, sum = 0.0;
    uint id = NO_ID;
#ifdef DRAW
    float key = MASKED, most = MASKED;
    for (uint s = 0u; s < p.slices; ++s) {
      uvec4 part = partials[row * p.ld4 + s];
      float here = uintBitsToFloat(part.x), part_sum = uintBitsToFloat(part.w), m = max(most, part_sum);
      sum = sum * exp(most - m) + exp(part_sum - m);
      most = m;
      if (better(here, part.y, key, id)) {
        key = here;
        id = part.y;
        best = uintBitsToFloat(part.z);
      }
    }
    running = forbidden(best) || forbidden(running) ? MASKED : running + (best - most - log(max(sum, 1e-30)));
#else
    for (uint s = 0u; s < p.slices; ++s) {
      uvec4 part = partials[row * p.ld4 + s];
      float score = uintBitsToFloat(part.x), m = max(best, score);
      sum = sum * exp(best - m) + uintBitsToFloat(part.w) * exp(score - m);
      if (better(score, part.y, best, id)) id = part.y;
      best = m;
    }
    running = forbidden(best) || forbidden(running) ? MASKED : running - log(max(sum, 1e-30));
#endif
    token = id == NO_ID ? param(P_PAD) : id;
    search[base + SEARCH_HEADER] = floatBitsToUint(running);
    bool ended = t + 2u >= min(param(P_MAX_LENGTH), p.positions);
    for (uint i = 0u; i < param(P_END_COUNT); ++i) ended = ended || param(P_END_IDS + i) == token;
    if (ended) {
      float divisor = length_divisor(t + 2u - param(P_PREFIX), param_float(P_LENGTH_PENALTY));
      search[base + SEARCH_DONE] = 1u;
      search[base + SEARCH_SETTLED] = 1u;
      search[base + SEARCH_FINISHED] = 1u;
      uint entry = base + SEARCH_HEADER + 1u;
      search[entry] = floatBitsToUint(forbidden(running) ? MASKED : running / divisor);
      search[entry + 1u] = t;
      search[entry + 2u] = slot;
      search[entry + 3u] = token;
    }
  }
  // The other parity already holds the positions before t: a slot continues itself.
  for (uint plane = 0u; plane < 2u; ++plane) {
    lineage[lineage_word(parity ^ 1u, plane, slot, t)] = lineage[lineage_word(parity, plane, slot, t)];
    lineage[lineage_word(parity ^ 1u, plane, slot, t + 1u)] = plane == 0u ? slot : token;
  }
  uint entry = t * (LOG_HEADER + 4u * p.slots) + LOG_HEADER + 4u * slot;
  log_words[entry] = token;
  log_words[entry + 1u] = slot;
  log_words[entry + 2u] = floatBitsToUint(running);
  log_words[entry + 3u] = 0u;
}
