// The processors of a row of scores in the reference's order, but for those that look at a whole row. A workgroup has the
// scores of the ids from first_id on. An invocation owns the ids that are congruent to it and alone touches their scores, so
// every id sees the processors in order without a barrier between them, and what must happen once per id happens once. Lists
// of suppressed ids alone are shared out, between barriers. Needs scores, lineage, lists, options (PARAMS_BINDING), LOCAL, p
// with slots and positions, and CHUNK: ids that the kernel has a bit for.
const uint CACHED = 1024u;
shared uint cached[CACHED];
// One bit for each of CHUNK ids; an invocation has words of its own, so it needs no atomics.
shared uint seen_bits[CHUNK / 32u];
uint scores_begin, history_begin, source_begin;  // of this row
uint first_id, end_id;                           // those whose scores the workgroup has
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
    if (owned(lists[offset + i])) forbid(lists[offset + i]);
}


// Of the row in a slot at position t, whose options are placed.
void process(const uint slot, const uint t) {
  count = t + 1u;
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
}
