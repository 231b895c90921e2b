// The processors of a row of scores in the reference's order, except those that need a whole row. A workgroup has the
// scores of the ids from first_id on. An invocation owns the ids congruent to it and alone touches their scores, so
// every id sees the processors in order without barriers between them, and once-per-id effects happen once. Only lists
// of suppressed ids are shared among invocations, between barriers. Needs scores, lineage, lists, options
// (PARAMS_BINDING), LOCAL, p with beam slots and positions, and CHUNK: how many ids the kernel has bits for.
const uint CACHED = 1024u;
shared uint cached[CACHED];
// One bit for each of CHUNK ids; every invocation has its own words, so no atomics are needed.
shared uint seen_bits[CHUNK / 32u];
uint scores_begin, history_begin, source_begin;  // where they begin for this row
uint first_id, end_id;                           // range of the scores that the workgroup has
uint count;                                      // ids in the history

uint history(uint i) { return i < CACHED ? cached[i] : lineage[history_begin + i]; }
uint source(uint i) { return lists[source_begin + i]; }
bool owned(uint id) { return id >= first_id && id < end_id; }
bool mine(uint id) { return owned(id) && id % LOCAL == gl_LocalInvocationIndex; }

void forbid(uint id) { scores[scores_begin + id] = MASKED; }
void add(uint id, float bias) {
  float s = scores[scores_begin + id];
  scores[scores_begin + id] = forbidden(s) ? MASKED : unless_forbidden(s + bias);
}
void penalize(uint id, float penalty) {
  float s = scores[scores_begin + id];
  scores[scores_begin + id] = forbidden(s) ? MASKED : unless_forbidden(s < 0.0 ? s * penalty : s / penalty);
}
void forbid_range(uint begin, uint end) {
  begin = max(begin, first_id);
  uint first = begin + (gl_LocalInvocationIndex + LOCAL - begin % LOCAL) % LOCAL;
  for (uint id = first; id < min(end, end_id); id += LOCAL) forbid(id);
}
void forbid_all() { forbid_range(first_id, end_id); }

// Does the history end with the n ids at lists[at] without the last? The reference requires a history of n ids, not n -
// 1.
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

// Penalizes each id among the first n of the source (or the history) once. Comparing with all earlier ids would be
// quadratic, and CPU drivers limit an invocation to 65,535 loop iterations.
void penalize_once(bool of_source, uint n, float penalty) {
  const uint own = CHUNK / 32u / LOCAL;  // words per invocation
  uint first = gl_LocalInvocationIndex * own;
  for (uint begin = first_id; begin < end_id; begin += CHUNK) {
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
  // Powers by squaring give the same bits on every device. Intermediate products are capped to stay finite, since
  // handling of infinities varies by device: powers stop at 1e15, which outweighs every other score.
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

// Splits the list evenly: between two barriers, ownership of ids does not matter.
void suppress(uint offset, uint n) {
  for (uint i = gl_LocalInvocationIndex; i < n; i += LOCAL)
    if (owned(lists[offset + i])) forbid(lists[offset + i]);
}


// Processes the row in a beam slot at position t, whose options are placed.
void process(const uint beam_slot, const uint t) {
  count = t + 1u;
  history_begin = lineage_word(lineage_parity(t), LINEAGE_TOKENS, beam_slot, 0u, p.beam_slots, p.positions);
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
}
