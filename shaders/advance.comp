#version 450
// After all sentences have stepped, one workgroup: counts the step, packs the rows of the sentences that go on, writes the
// log's header and the grids. Once done, nothing changes any more.
#extension GL_GOOGLE_include_directive : enable
#define USE_PARAMS
#include "common.glsl"
#include "state.glsl"
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Step { uint step_words[]; };
layout(std430, set = 0, binding = 1) readonly buffer Search { uint search[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Log { uint log_words[]; };
layout(std430, set = 0, binding = 3) buffer Grids { uint grids[]; };
#include "grids.glsl"
layout(push_constant) uniform P {
  uint groups;
  uint slots, positions, beams, sentences;
} p;
shared uint counts[64];

bool goes_on(uint sentence, uint stride) { return search[sentence * stride + SEARCH_DONE] == 0u; }

void main() {
  uint lane = gl_LocalInvocationIndex;
  if (group_index() >= p.groups) return;
  uint t = step_words[STEP_STEP];
  if (step_words[STEP_DONE] != 0u) return;
  // An invocation counts a run of sentences, so that the order stays.
  uint sentences = min(param(P_SENTENCES), p.sentences), stride = SEARCH_HEADER + 5u * p.beams;
  uint share = div_up(sentences, 64u), begin = min(lane * share, sentences), end = min(begin + share, sentences);
  uint count = 0u;
  for (uint s = begin; s < end; ++s) count += goes_on(s, stride) ? 1u : 0u;
  counts[lane] = count;
  barrier();
  uint before = 0u, total = 0u;
  for (uint i = 0u; i < 64u; ++i) {
    if (i < lane) before += counts[i];
    total += counts[i];
  }
  bool done = total == 0u || t + 2u >= min(param(P_MAX_LENGTH), p.positions);
  uint live = done ? 0u : total * p.beams;
  if (!done)
    for (uint s = begin; s < end; ++s) {
      if (!goes_on(s, stride)) continue;
      for (uint b = 0u; b < p.beams; ++b) step_words[STEP_ROW_SLOT + before * p.beams + b] = s * p.beams + b;
      ++before;
    }
  for (uint i = lane; i < MAX_GRIDS; i += 64u) write_grid(i, live);
  if (lane == 0u) {
    step_words[STEP_STEP] = t + 1u;
    step_words[STEP_LIVE] = live;
    step_words[STEP_DONE] = done ? 1u : 0u;
    if (t + 1u < p.positions) {
      uint header = t * (LOG_HEADER + 4u * p.slots);
      log_words[header] = live;
      log_words[header + 1u] = done ? 1u : 0u;
      log_words[header + LOG_MARK] = param(P_LOG_MARK);
      log_words[header + 3u] = 0u;
    }
  }
}
