#version 450
// All processors of a row of scores in the reference's order; one workgroup a row. An invocation owns the ids that are
// congruent to it and alone touches their scores, so every id sees the processors in order without a barrier between
// them, and what must happen once per id happens once. Lists of suppressed ids alone are shared out, between barriers.
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#define PARAMS_BINDING 3
#include "common.glsl"
#include "state.glsl"
#include "search.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 64;
layout(std430, set = 0, binding = 0) coherent buffer Scores { float scores[]; };
layout(std430, set = 0, binding = 1) readonly buffer Lineage { uint lineage[]; };
layout(std430, set = 0, binding = 2) readonly buffer Lists { uint lists[]; };
layout(push_constant) uniform P {
  uint groups;
  uint columns, ld, begin;  // words
  uint first_row;
  uint slots, positions, beams;
} p;

const uint CACHED = 1024u;
shared uint cached[CACHED];
// One bit for each of 65,536 ids; an invocation has words of its own, so it needs no atomics.
const uint CHUNK = 65536u;
shared uint seen_bits[CHUNK / 32u];
shared vec3 likely[128];
uint scores_begin, history_begin, source_begin;  // of this row
uint count;                                      // ids in the history

uint history(uint i) { return i < CACHED ? cached[i] : lineage[history_begin + i]; }
uint source(uint i) { return lists[source_begin + i]; }
bool mine(uint id) { return id < p.columns && id % LOCAL == gl_LocalInvocationIndex; }

void forbid(uint id) { scores[scores_begin + id] = MASKED; }
void add(uint id, float bias) {
  float s = scores[scores_begin + id];
  scores[scores_begin + id] = forbidden(s) ? MASKED : unless_forbidden(s + bias);
}
void penalize(uint id, float penalty) {
  float s = scores[scores_begin + id];
  scores[scores_begin + id] = forbidden(s) ? MASKED : unless_forbidden(s < 0.0 ? s * penalty : s / penalty);
}
void forbid_all() {
  for (uint id = gl_LocalInvocationIndex; id < p.columns; id += LOCAL) forbid(id);
}

// The n ids at lists[at] but the last are the end of the history. The reference wants n ids to be there, not n - 1.
bool follows(uint at, uint n) {
  if (n == 0u || n > count) return false;
  for (uint i = 0u; i + 1u < n; ++i)
    if (lists[at + i] != history(count - (n - 1u) + i)) return false;
  return true;
}

void sequence_bias() {
  uint at = param(P_BIAS_OFFSET);
  for (uint e = param(P_BIAS_COUNT); e > 0u; --e) {
    uint n = lists[at];
    if (n > 0u && mine(lists[at + n + 1u]) && follows(at + 2u, n)) add(lists[at + n + 1u], uintBitsToFloat(lists[at + 1u]));
    at += n + 2u;
  }
}

void bad_words() {
  uint at = param(P_BAD_WORDS_OFFSET);
  for (uint e = param(P_BAD_WORDS_COUNT); e > 0u; --e) {
    uint n = lists[at];
    if (n > 0u && mine(lists[at + n]) && !(n == 1u && is_end(lists[at + 1u])) && follows(at + 1u, n)) forbid(lists[at + n]);
    at += n + 1u;
  }
}

// Each id among the first n of the source (or the history) once. A look at all earlier ids for each would be quadratic;
// on CPU drivers that also runs into their limit of 65,535 loop iterations.
void penalize_once(bool of_source, uint n, float penalty) {
  const uint own = CHUNK / 32u / LOCAL;  // words
  uint first = gl_LocalInvocationIndex * own;
  for (uint begin = 0u; begin < p.columns; begin += CHUNK) {
    for (uint i = 0u; i < own; ++i) seen_bits[first + i] = 0u;
    for (uint i = 0u; i < n; ++i) {
      uint id = of_source ? source(i) : history(i);
      if (!mine(id) || id < begin || id - begin >= CHUNK) continue;
      uint bit = (id - begin) / LOCAL, word = first + (bit >> 5), mask = 1u << (bit & 31u);
      if ((seen_bits[word] & mask) != 0u) continue;
      seen_bits[word] |= mask;
      penalize(id, penalty);
    }
  }
}

void repetition_penalties() {
  float penalty = param_float(P_ENCODER_REPETITION_PENALTY);
  if (penalty != 1.0) penalize_once(true, param(P_SOURCE_COUNT), penalty);
  penalty = param_float(P_REPETITION_PENALTY);
  if (penalty != 1.0) penalize_once(false, count, penalty);
}

void no_repeat_ngrams() {
  uint n = param(P_NO_REPEAT_NGRAM);
  if (n > 0u)
    for (uint i = 0u; i + n <= count; ++i) {
      uint id = history(i + n - 1u);
      bool same = mine(id);
      for (uint j = 0u; j + 1u < n && same; ++j) same = history(i + j) == history(count - (n - 1u) + j);
      if (same) forbid(id);
    }
  n = param(P_ENCODER_NO_REPEAT_NGRAM);
  if (n > 0u && count + 1u >= n)
    for (uint i = 0u; i + n <= param(P_SOURCE_COUNT); ++i) {
      uint id = source(i + n - 1u);
      bool same = mine(id);
      for (uint j = 0u; j + 1u < n && same; ++j) same = source(i + j) == history(count - (n - 1u) + j);
      if (same) forbid(id);
    }
}

void forced_tokens() {
  if (param(P_FORCED_BOS) != 0u && count == 1u) {
    forbid_all();
    uint id = param(P_FORCED_BOS) - 1u;
    if (mine(id)) scores[scores_begin + id] = 0.0;
  }
  if (param(P_FORCED_EOS_COUNT) != 0u && count + 1u == param(P_MAX_LENGTH)) {
    forbid_all();
    for (uint i = 0u; i < param(P_FORCED_EOS_COUNT); ++i) {
      uint id = param(P_FORCED_EOS_IDS + i);
      if (mine(id)) scores[scores_begin + id] = 0.0;
    }
  }
}

void exponential_decay() {
  uint start = param(P_DECAY_START);
  if (start == 0u || count <= start) return;
  // By squaring: the same bits on every device. Limited so that no product is infinite on the way, for what becomes of
  // infinities is up to the device: powers to 1e15, which outweighs every other score.
  float factor = 1.0, square = min(param_float(P_DECAY_FACTOR), 1e15);
  for (uint n = count - start; n > 0u; n >>= 1) {
    if ((n & 1u) != 0u) factor = min(factor * square, 1e15);
    square = min(square * square, 1e15);
  }
  for (uint i = 0u; i < param(P_END_COUNT); ++i) {
    uint id = param(P_END_IDS + i);
    if (!mine(id)) continue;
    bool seen = false;
    for (uint j = 0u; j < i && !seen; ++j) seen = param(P_END_IDS + j) == id;
    if (!seen) add(id, min(min(abs(scores[scores_begin + id]), 1e23) * (factor - 1.0), 1e30));
  }
}

// A share of the list each: whose id it is makes no difference between two barriers.
void suppress(uint offset, uint n) {
  for (uint i = gl_LocalInvocationIndex; i < n; i += LOCAL)
    if (lists[offset + i] < p.columns) forbid(lists[offset + i]);
}

void forbid_range(uint begin, uint end) {
  uint first = begin + (gl_LocalInvocationIndex + LOCAL - begin % LOCAL) % LOCAL;
  for (uint id = first; id < min(end, p.columns); id += LOCAL) forbid(id);
}

// Whisper's rules: timestamps come in pairs, except before the end, and do not decrease; the first generated token is one;
// one is forced where all of them together are likelier than any text.
void timestamps() {
  uint begin = param(P_TIMESTAMP_BEGIN), after = param(P_TIMESTAMP_AFTER), lane = gl_LocalInvocationIndex;
  if (mine(begin - 1u)) forbid(begin - 1u);
  uint generated = count - min(after, count);
  bool last = generated >= 1u && history(count - 1u) >= begin;
  bool before_last = generated < 2u || history(count - 2u) >= begin;
  if (last) {
    if (before_last)
      forbid_range(begin, p.columns);
    else
      forbid_range(0u, param(P_END_COUNT) == 0u ? 0u : param(P_END_IDS));
  }
  uint latest = 0u;
  for (uint i = count; i > after && latest == 0u; --i)
    if (history(i - 1u) >= begin) latest = history(i - 1u) + (last && !before_last ? 0u : 1u);
  if (latest != 0u) forbid_range(begin, latest);
  if (count == after) {
    forbid_range(0u, begin);
    if (param(P_TIMESTAMP_LATEST) != 0u) forbid_range(param(P_TIMESTAMP_LATEST) + 1u, p.columns);
  }
  // x: the most likely text; y, z: maximum and sum of exponentials of the timestamps.
  vec3 own = vec3(MASKED, MASKED, 0.0);
  for (uint id = lane; id < p.columns; id += LOCAL) {
    float s = scores[scores_begin + id];
    if (forbidden(s)) continue;
    if (id < begin) {
      own.x = max(own.x, s);
    } else {
      float m = max(own.y, s);
      own = vec3(own.x, m, own.z * exp(own.y - m) + exp(s - m));
    }
  }
  likely[lane] = own;
  barrier();
  for (uint s = LOCAL >> 1; s > 0u; s >>= 1) {
    if (lane < s) {
      vec3 a = likely[lane], b = likely[lane + s];
      float m = max(a.y, b.y);
      likely[lane] = vec3(max(a.x, b.x), m, a.z * exp(a.y - m) + b.z * exp(b.y - m));
    }
    barrier();
  }
  vec3 all = likely[0];
  if (all.z > 0.0 && all.y + log(all.z) > all.x) forbid_range(0u, begin);
}

void main() {
  uint row = group_index();
  if (row >= p.groups) return;
  if (p.first_row + row >= step_word(STEP_LIVE)) return;
  uint t = position_of(row_word(p.first_row + row)), slot = slot_of(row_word(p.first_row + row));
  place_params(slot, p.beams);
  count = t + 1u;
  scores_begin = p.begin + row * p.ld;
  history_begin = lineage_word(lineage_parity(t), LINEAGE_TOKENS, slot, 0u, p.slots, p.positions);
  source_begin = param(P_SOURCE_OFFSET);
  for (uint i = gl_LocalInvocationIndex; i < min(count, CACHED); i += LOCAL) cached[i] = lineage[history_begin + i];
  barrier();
  sequence_bias();
  repetition_penalties();
  no_repeat_ngrams();
  bad_words();
  if (count < max(param(P_MIN_LENGTH), param(P_MIN_NEW_LENGTH)))
    for (uint i = 0u; i < param(P_END_COUNT); ++i)
      if (mine(param(P_END_IDS + i))) forbid(param(P_END_IDS + i));
  forced_tokens();
  exponential_decay();
  bool listed = param(P_SUPPRESS_COUNT) + param(P_BEGIN_SUPPRESS_COUNT) > 0u;
  if (listed) hand_over();
  suppress(param(P_SUPPRESS_OFFSET), param(P_SUPPRESS_COUNT));
  if (count == param(P_BEGIN_SUPPRESS_LENGTH)) suppress(param(P_BEGIN_SUPPRESS_OFFSET), param(P_BEGIN_SUPPRESS_COUNT));
  if (listed) hand_over();
  if (param(P_TIMESTAMP_BEGIN) != 0u) timestamps();
}
