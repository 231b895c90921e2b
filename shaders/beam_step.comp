#version 450
// One step of beam search, one workgroup per sentence: picks the best K continuations of its beams, keeps the finished
// ones, moves the unfinished ones on, and decides whether the search has ended. Picking is parallel as in top_k; one
// invocation applies the rules (K is small); all copy the lineage. DRAW: candidates were drawn; they are picked by key,
// but the rules use their scores. SIMPLE: one invocation does everything, for compilers that get the parallel version
// wrong.
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#include "common.glsl"
#include "state.glsl"
#include "search.glsl"
#ifdef SIMPLE
layout(local_size_x = 1) in;
const uint LOCAL = 1u;
#else
layout(local_size_x = 64) in;
const uint LOCAL = 64u;
#endif
#ifdef DRAW
layout(std430, set = 0, binding = 0) readonly buffer Candidates { uvec4 candidates[]; };  // [rows][slices][K]
#else
layout(std430, set = 0, binding = 0) readonly buffer Candidates { uvec2 candidates[]; };  // [rows][slices][K]
#endif
layout(std430, set = 0, binding = 1) coherent buffer Searches { uint searches[]; };
layout(push_constant) uniform P {
  uint groups;
  uint beam_slots, positions, beams;
  uint k, slices, ld;  // candidates per slice; slices per row; candidates per row
  uint log_rows, ticks;  // of the log; ticks: a power of two
} p;

shared float pick_score[MAX_CANDIDATES];
shared uint pick_beam[MAX_CANDIDATES];
shared uint pick_id[MAX_CANDIDATES];
#ifndef SIMPLE
shared float lane_score[LOCAL];
shared uint lane_beam[LOCAL];
shared uint lane_id[LOCAL];
shared float part_score[8];
shared uint part_beam[8];
shared uint part_id[8];
#endif
shared uint next_from[MAX_BEAMS];    // picks that keep running
shared float next_score[MAX_BEAMS];  // and their running scores
shared uint notes[2];                // notes of the first two rows
shared uint failed;                  // some score is not a number
// The sentence's record while it is worked on; read from the buffer once and written back at the end.
shared uint search[SEARCH_LARGEST];
uint param(uint i) { return search[i]; }
float param_float(uint i) { return uintBitsToFloat(search[i]); }
#include "bookkeeping.glsl"
#ifdef DRAW
const float TAKEN = -3e38;
shared float run_score[MAX_CANDIDATES];  // scores the picks would have if they kept running
#endif

struct Candidate {
  float score;
  uint beam, id;  // id NO_ID: none
};

bool ranks_before(Candidate a, Candidate b) {
  if (a.id == NO_ID || b.id == NO_ID) return a.id != NO_ID && b.id == NO_ID;
  if (a.score != b.score) return a.score > b.score;
  return a.beam < b.beam || (a.beam == b.beam && a.id < b.id);
}

uint first_row, first_beam_slot, t;

// Adds a listed key or score to its beam's running score.
float sum_of(float running, uint score) {
  float s = uintBitsToFloat(score);
  return forbidden(s) || forbidden(running) ? MASKED : unless_forbidden(running + s);
}

// The first index of a list from which candidates may rank below `last`. Sums do not rise along a list; forbidden
// candidates are ordered by id. Uses galloping search: scanning from the start for every candidate would be quadratic
// and exceed the 65,535 loop iterations that llvmpipe grants an invocation.
uint first_open(uint base, float running, uint beam, Candidate last) {
  uint begin = 0u;
  for (uint stride = 1u; stride > 0u;) {
    uint at = begin + stride - 1u;
    bool before = at < p.k;
    if (before) {
      uint id = candidates[base + at].y;
      float s = sum_of(running, candidates[base + at].x);
      bool ordered = forbidden(s) && forbidden(last.score) && !forbidden(running);
      before = id != NO_ID && (s > last.score || (ordered && !ranks_before(last, Candidate(s, beam, id))));
    }
    if (before) begin += stride;
    stride = before ? stride << 1 : stride >> 1;
  }
  return begin;
}

// The best continuation in the invocation's lists (one per beam and slice, in order of score) that ranks below `last`;
// every candidate does if `last` is none.
Candidate next_best(Candidate last) {
  Candidate best = Candidate(MASKED, 0u, NO_ID);
  for (uint list = gl_LocalInvocationIndex; list < p.beams * p.slices; list += LOCAL) {
    uint beam = list / p.slices, base = (first_row + beam) * p.ld + list % p.slices * p.k;
    float running = uintBitsToFloat(search[search_running(beam)]), level = 0.0;
    bool found = false;
    for (uint i = last.id == NO_ID ? 0u : first_open(base, running, beam, last); i < p.k; ++i) {
      uint id = candidates[base + i].y;
      if (id == NO_ID) break;  // only occurs at the end of a list
      float score = sum_of(running, candidates[base + i].x);
      // The sums do not rise along a list, but rounding can make them equal, and then ids may come in any order.
      if (found && score < level) break;
      Candidate here = Candidate(score, beam, id);
      if (last.id != NO_ID && !ranks_before(last, here)) continue;
      found = true;
      level = score;
      if (ranks_before(here, best)) best = here;
      if (forbidden(score) && !forbidden(running)) break;  // the first is the best
    }
  }
  return best;
}

#ifdef DRAW
// Looks up a candidate's score by its key.
uint value_of(uint beam, uint id, float key, float running) {
  for (uint slice = 0u; slice < p.slices; ++slice) {
    uint base = (first_row + beam) * p.ld + slice * p.k;
    for (uint i = first_open(base, running, beam, Candidate(key, beam, id)); i < p.k; ++i) {
      if (candidates[base + i].y == id) return candidates[base + i].z;
      if (candidates[base + i].y == NO_ID || sum_of(running, candidates[base + i].x) < key) break;
    }
  }
  return floatBitsToUint(MASKED);
}
#endif

#ifdef SIMPLE
// Picks the best, then the best below it, until none is left.
void pick_in_order() {
  Candidate last = Candidate(MASKED, 0u, NO_ID);
  for (uint round = 0u; round < p.k; ++round) {
    if (round == 0u || last.id != NO_ID) last = next_best(last);
    pick_score[round] = last.score;
    pick_beam[round] = last.beam;
    pick_id[round] = last.id;
  }
}
#else
void pick_in_order() {
  uint lane = gl_LocalInvocationIndex;
  Candidate own = Candidate(MASKED, 0u, NO_ID);
  bool picked = true;  // whether its own candidate was picked: then its next best is due (initially its best overall)
  for (uint round = 0u; round < p.k; ++round) {
    if (picked) {
      own = next_best(own);
      lane_score[lane] = own.score;
      lane_beam[lane] = own.beam;
      lane_id[lane] = own.id;
    }
    barrier();
    if (lane < 8u) {
      Candidate best = Candidate(MASKED, 0u, NO_ID);
      [[dont_unroll]] for (uint i = lane; i < LOCAL; i += 8u) {
        Candidate c = Candidate(lane_score[i], lane_beam[i], lane_id[i]);
        if (ranks_before(c, best)) best = c;
      }
      part_score[lane] = best.score;
      part_beam[lane] = best.beam;
      part_id[lane] = best.id;
    }
    barrier();
    Candidate best = Candidate(part_score[0], part_beam[0], part_id[0]);
    [[dont_unroll]] for (uint i = 1u; i < 8u; ++i) {
      Candidate c = Candidate(part_score[i], part_beam[i], part_id[i]);
      if (ranks_before(c, best)) best = c;
    }
    if (lane == 0u) {
      pick_score[round] = best.score;
      pick_beam[round] = best.beam;
      pick_id[round] = best.id;
    }
    picked = own.id != NO_ID && best.id == own.id && best.beam == own.beam;
  }
  barrier();
}
#endif

void pick() {
  pick_in_order();
#ifdef DRAW
  // Replaces keys by scores: each pick is looked up again.
  for (uint i = gl_LocalInvocationIndex; i < p.k; i += LOCAL) {
    if (pick_id[i] == NO_ID || forbidden(pick_score[i])) continue;
    uint beam = pick_beam[i];
    float running = uintBitsToFloat(search[search_running(beam)]);
    pick_score[i] = sum_of(running, value_of(beam, pick_id[i], pick_score[i], running));
  }
  barrier();
#endif
}

uint finished_entry(const uint i) { return search_finished_entry(p.beams, i); }

// Inserts pick `i` into the list of finished hypotheses if it is good enough; among equals the older one stays in
// front.
void finish(uint i, float score) {
  uint at = 0u;
  while (at < p.beams && uintBitsToFloat(search[finished_entry(at) + FINISHED_SCORE]) >= score) ++at;
  if (at == p.beams) return;
  for (uint j = p.beams - 1u; j > at; --j)
    for (uint w = 0u; w < FINISHED_WORDS; ++w) search[finished_entry(j) + w] = search[finished_entry(j - 1u) + w];
  uint entry = finished_entry(at);
  search[entry + FINISHED_SCORE] = floatBitsToUint(score);
  search[entry + FINISHED_POSITION] = t;
  search[entry + FINISHED_BEAM] = pick_beam[i];
  search[entry + FINISHED_TOKEN] = pick_id[i];
  search[SEARCH_FINISHED] = min(search[SEARCH_FINISHED] + 1u, p.beams);
}

#ifdef DRAW
// As below, but picks stay in the order in which they were drawn: the best score may be among those that do not count.
void choose_running(bool limit, uint places) {
  if (param(P_EARLY_STOPPING) == STOP_SHRINKING)
    for (uint i = places; i < p.k; ++i) run_score[i] = TAKEN;
  for (uint b = 0u; b < p.beams; ++b) {
    // If no score compares greater (NaN never does), there is still a pick.
    uint from = b;
    float score = 0.0;
    bool any = false;
    for (uint i = 0u; i < p.k; ++i) {
      float s = run_score[i];
      if (s > TAKEN && (!any || s > score)) {
        any = true;
        from = i;
        score = s;
      }
    }
    run_score[from] = TAKEN;
    next_from[b] = from;
    next_score[b] = score;
  }
  for (uint b = 0u; b < p.beams; ++b) search[search_running(b)] = floatBitsToUint(next_score[b]);
}
#else
// The best hypotheses that run on: an ended one is lowered by NO_SCORE and so only fills up the list. The first `places`
// have the best scores anyway.
void choose_running(bool limit, uint places) {
  uint open = 0u, ended = 0u;
  for (uint b = 0u; b < p.beams; ++b) {
    while (open < p.k && (limit || is_end(pick_id[open]))) ++open;
    while (ended < p.k && !(limit || is_end(pick_id[ended]))) ++ended;
    float open_score = open < p.k ? pick_score[open] : 0.0;
    float ended_score = ended < p.k ? (forbidden(pick_score[ended]) ? MASKED : pick_score[ended] + NO_SCORE) : 0.0;
    bool take_open = open < p.k && (ended >= p.k || open_score > ended_score || (open_score == ended_score && open < ended));
    next_from[b] = take_open ? open++ : ended++;
    next_score[b] = take_open ? open_score : ended_score;
    search[search_running(b)] = floatBitsToUint(next_score[b]);
  }
}
#endif

// In a beam that shrinks, the best `places` candidates count: those that have not ended run on, and no others. Returns
// how many these are.
uint shrink(const uint places, const bool limit) {
  uint kept = 0u;
  for (uint i = 0u; i < places; ++i)
    if (!limit && pick_id[i] != NO_ID && !is_end(pick_id[i]) && !forbidden(pick_score[i])) ++kept;
  for (uint b = kept; b < p.beams; ++b) {
    next_score[b] = MASKED;
    search[search_running(b)] = floatBitsToUint(MASKED);
  }
  return kept;
}

void decide() {
  bool limit = reaches_limit(t);
  float penalty = param_float(P_LENGTH_PENALTY), divisor = length_divisor(generated_with(t), penalty);
  bool stop_when_full = param(P_EARLY_STOPPING) == STOP_YES;
  bool settled = search[SEARCH_SETTLED] != 0u;
  bool closed = settled || (stop_when_full && search[SEARCH_FINISHED] == p.beams);
  bool shrinks = param(P_EARLY_STOPPING) == STOP_SHRINKING;
  uint places = shrinks ? p.beams - min(search[SEARCH_FINISHED], p.beams) : p.beams;
  choose_running(limit, places);
  uint kept = shrinks ? shrink(places, limit) : p.beams;
  bool all_ended = true;
  for (uint i = 0u; i < p.k; ++i) all_ended = all_ended && (limit || is_end(pick_id[i]));
  // Only the first `beams` candidates may finish.
  for (uint i = 0u; i < places; ++i)
    if (!closed && (limit || is_end(pick_id[i])) && pick_id[i] != NO_ID && !forbidden(pick_score[i]))
      finish(i, pick_score[i] / divisor);
  uint finished = search[SEARCH_FINISHED];
  // Can the best running hypothesis still beat the worst finished one? (Free entries count as NO_SCORE.)
  float length = divisor;
  if (param(P_EARLY_STOPPING) == STOP_NEVER && penalty > 0.0)
    length = length_divisor(max(param(P_MAX_LENGTH), param(P_PREFIX) + 1u) - param(P_PREFIX), penalty);
  float best = next_score[0], worst = uintBitsToFloat(search[finished_entry(p.beams - 1u) + FINISHED_SCORE]);
  settled = shrinks ? kept == 0u : settled || forbidden(best) || !(best / length > worst);
  search[SEARCH_SETTLED] = settled ? 1u : 0u;
  bool done = settled || limit || all_ended || (stop_when_full && finished == p.beams);
  if (done) search[SEARCH_STATUS] = STATUS_ENDED;
  notes[0] = done ? LOG_NOTE_ENDED | (finished << LOG_NOTE_COUNT_SHIFT) : 0u;
  uint found = finished_entry(0u);
  notes[1] = finished == 0u ? 0u : 1u + row_word_of(search[found + FINISHED_BEAM], search[found + FINISHED_POSITION]);
}

// Ends the sentence without a result; what its rows log is meaningless.
void give_up() {
  pick_beam[0] = 0u;
  pick_id[0] = NO_ID;
  for (uint b = 0u; b < p.beams; ++b) {
    next_from[b] = 0u;
    next_score[b] = MASKED;
  }
  search[SEARCH_STATUS] = STATUS_ENDED;
  notes[0] = LOG_NOTE_ENDED | LOG_NOTE_FAILED;
  notes[1] = 0u;
}

void log_beam(uint beam, uint token, uint parent) {
  uint entry = log_entry_of(first_row + beam), note = beam < 2u ? notes[beam] : 0u;
  write_log(entry, first_row + beam, token, parent, floatBitsToUint(next_score[beam]), note);
  if (search[SEARCH_STATUS] != STATUS_ENDED) return;
  uint from = finished_entry(beam);
  for (uint w = 0u; w < FINISHED_WORDS; ++w) log_words[entry + LOG_FINISHED + w] = search[from + w];
}

// The lists are sorted, so checking their first candidates is enough.
void look_for_failure() {
  for (uint list = gl_LocalInvocationIndex; list < p.beams * p.slices; list += LOCAL) {
    uint first = (first_row + list / p.slices) * p.ld + list % p.slices * p.k;
    if (no_number(candidates[first].x)) failed = 1u;
  }
}

void main() {
  uint g = group_index(), lane = gl_LocalInvocationIndex;
  if (g >= p.groups) return;
  first_row = g * p.beams;
  if (first_row >= step_word(STEP_LIVE)) return;
  t = position_of(row_word(first_row));
  if (t + 1u >= p.positions) return;
  first_beam_slot = beam_slot_of(row_word(first_row));
  uint stride = search_stride(p.beams), base = search_record(first_beam_slot / p.beams, p.beams);
  for (uint i = lane; i < stride; i += LOCAL) search[i] = searches[base + i];
  if (lane == 0u) failed = 0u;
  hand_over();
  look_for_failure();
  pick();
#ifdef DRAW
  for (uint i = lane; i < p.k; i += LOCAL) {
    bool ended = reaches_limit(t) || is_end(pick_id[i]);
    run_score[i] = !ended ? pick_score[i] : forbidden(pick_score[i]) ? MASKED : pick_score[i] + NO_SCORE;
  }
  barrier();
#endif
  if (lane == 0u) {
    if (failed != 0u) give_up();
    else decide();
  }
  barrier();
  uint now = lineage_parity(t), then = lineage_parity(t + 1u);
  for (uint i = lane; i < p.beams * (t + 1u); i += LOCAL) {
    uint beam = i / (t + 1u), position = i % (t + 1u), parent = pick_beam[next_from[beam]];
    for (uint plane = LINEAGE_ANCESTRY; plane <= LINEAGE_TOKENS; ++plane)
      lineage[lineage_at(then, plane, first_beam_slot + beam, position)] =
          lineage[lineage_at(now, plane, first_beam_slot + parent, position)];
  }
#ifdef SIMPLE
  for (uint beam = 0u; beam < p.beams; ++beam)
#else
  const uint beam = lane;  // MAX_BEAMS does not exceed LOCAL
  if (beam < p.beams)
#endif
  {
    uint from = next_from[beam], token = pick_id[from] == NO_ID ? param(P_PAD) : pick_id[from];
    append_token(first_beam_slot + beam, t, token);
    log_beam(beam, token, pick_beam[from]);
  }
  for (uint i = SEARCH_STATUS + lane; i < stride; i += LOCAL) searches[base + i] = search[i];
}
