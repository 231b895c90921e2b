#version 450
// Temperature and sampling filters over a row of scores, in place; one workgroup per row. A filter forbids what ranks
// below a threshold, which is found without sorting (lib/threshold.glsl). Passes over the row dominate the cost: as
// soon as few ids are left they are kept in shared memory, and later passes visit only these. With LISTS,
// warp_slices.comp has applied the temperature and listed the best scores, which nearly always contain the threshold of
// the first filter; otherwise the whole row is processed. The result is then an interval of scores, which other
// dispatches apply. Loops: at most about 60 passes over columns / (4 LOCAL), far below the 65,535 iterations that
// llvmpipe grants an invocation.
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#define PARAMS_BINDING 1
#include "common.glsl"
#include "state.glsl"
#include "search.glsl"
#include "warp.glsl"
layout(std430, set = 0, binding = 0) buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 2) buffer Lists { vec4 lists[]; };
layout(constant_id = 1) const uint LISTS = 0;
#include "threshold.glsl"

const uint KEPT = 256u;
shared vec4 kept[KEPT];  // vectors with any allowed score, and their places in the row
shared uint places[KEPT];

uint row, base;
bool few;            // load() reads the kept vectors
uint first, behind;  // range of kept vectors that belong to the lane
float weighted;      // over the allowed scores: sum e^(x - most) (x - most)
// With LISTS:
bool from_lists;  // the vectors are, or the kept ones were, those of the lists
bool has_rest;    // unlisted scores have not been filtered yet
float best_rest;
// The constant comes first, so that compilers drop the code for lists.
bool of_lists() { return LISTS != 0u && from_lists; }
bool of_rest() { return LISTS != 0u && has_rest; }

vec4 load(uint n) {
  if (few) return kept[n];
  if (of_lists()) return lists[list_at(row, 0u) + n];
  return mix(vec4(MASKED), x[base + n], in_row(n));
}
void store(uint n, vec4 v) {
  if (few)
    kept[n] = v;
  else if (of_lists())
    lists[list_at(row, 0u) + n] = v;
  else
    x[base + n] = mix(vec4(0.0), v, in_row(n));  // the padding stays zero
}

void take_lists() {
  from_lists = has_rest = true;
  vectors = p.slices * LIST4;
  float own = MASKED;
  for (uint s = lane; s < p.slices; s += LOCAL) own = max(own, lists[rest_at(row, s)].x);
  best_rest = reduce_max(own);
}
void take_row() {
  from_lists = has_rest = false;
  vectors = p.ld4;
}
vec2 sums_of_rest() {
  vec2 sums = vec2(0.0);
  for (uint s = lane; s < p.slices; s += LOCAL) {
    vec4 rest = lists[rest_at(row, s)];
    float away = max(rest.x - most, -200.0);
    sums += exp(away) * vec2(rest.y, rest.z + rest.y * away);
  }
  return sums;
}

// Sets most, total, weighted and typical.
void measure() {
  float own = MASKED;
  for (uint n = lane; n < vectors; n += LOCAL) own = max(own, best_of(load(n)));
  if (of_rest()) own = max(own, best_rest);
  most = reduce_max(own);
  vec2 sums = vec2(0.0);
  if (of_rest()) sums = sums_of_rest();
  for (uint n = lane; n < vectors; n += LOCAL) sums += sums_of(load(n), most);
  sums = reduce_sum(sums);
  total = max(sums.x, 1e-30);
  weighted = sums.y;
  typical = most + weighted / total;
}

bool has_some(vec4 v) { return any(greaterThan(v, vec4(FORBIDDEN))); }

// Each lane's vectors are kept contiguously, so that their order, and with it that of every sum, is always the same,
// and no lane needs what another has written to the row.
void keep_few() {
  if (few) return;
  uint own = 0u;
  for (uint n = lane; n < vectors; n += LOCAL) own += has_some(load(n)) ? 1u : 0u;
  uvec2 here = before_and_all(own);
  uint all = here.y;
  if (all > KEPT) return;
  first = here.x;
  behind = first + own;
  uint at = first;
  for (uint n = lane; n < vectors; n += LOCAL) {
    vec4 v = load(n);
    if (!has_some(v)) continue;
    places[at] = n;
    kept[at++] = v;
  }
  barrier();
  few = true;
  vectors = all;
}
void give_back() {
  if (!few) return;
  barrier();
  few = false;
  for (uint at = first; at < behind; ++at) store(places[at], kept[at]);
}

bool by_count(uint which) { return which == TOP_H_BEST || which == TOP_K; }
bool by_probability(uint which) { return which == MIN_P || which == EPSILON || which == ETA; }

// The weight that the best scores reach together to stay, in the units of weight_of().
uint weights_of(uint which) { return by_count(which) ? COUNT : which == TOP_H ? ENTROPY : MASS; }
uint target_of(uint which) {
  switch (which) {
    case TOP_H_BEST: return 100u;
    case TOP_K: return param(P_TOP_K);
    case TOP_H: return uint(max(log(total) - weighted / total, 0.0) * param_float(P_TOP_H) * ENTROPY_UNIT) + 1u;
    case TOP_P: return max(uint(param_float(P_TOP_P) * MASS_UNIT), 1u);
    default: return max(uint(param_float(P_TYPICAL_P) * MASS_UNIT), 1u);
  }
}
// A limit for e^(score - most), for filters by probability.
float limit_of(uint which) {
  if (which == MIN_P) return param_float(P_MIN_P);
  if (which == EPSILON) return param_float(P_EPSILON) * total;
  float eta = param_float(P_ETA), entropy = log(total) - weighted / total;
  return min(eta, sqrt(eta) * exp(-entropy)) * total;
}

const uint NOTHING = 0xffffffffu;  // a key that no score has
float limit;                       // infinite: no limit

// A score stays if its key is at least `least`, its score key is at least `spared`, or it is probable enough.
float pass_one(uint keys, float v, uint least, uint spared) {
  bool stays = key_of(keys, v) >= least || key_of(BY_SCORE, v) >= spared || exp(max(v - most, -200.0)) >= limit;
  return (stays && !forbidden(v)) || is_unusable(v) ? v : MASKED;
}
void keep(uint keys, uint least, uint spared) {
  for (uint n = lane; n < vectors; n += LOCAL) {
    vec4 v = load(n);
    store(n, vec4(pass_one(keys, v.x, least, spared), pass_one(keys, v.y, least, spared),
                  pass_one(keys, v.z, least, spared), pass_one(keys, v.w, least, spared)));
  }
}

// No unlisted score is better than the best unlisted one, so they all go if that one does.
bool rest_stays(uint keys, uint least, uint spared) {
  if (forbidden(best_rest)) return false;
  return (keys == BY_SURPRISE && best_rest >= typical) || !forbidden(pass_one(keys, best_rest, least, spared));
}

// False: the lists did not hold enough, and the filter must run on the row.
bool run(uint which) {
  if (!by_count(which)) measure();
  uint keys = which == TYPICAL_P ? BY_SURPRISE : BY_SCORE, stay = max(param(P_MIN_KEEP), 1u);
  uint least = NOTHING, spared = NOTHING;
  limit = by_probability(which) ? limit_of(which) : 1e30;
  // First the threshold, then the key of the ids that no filter may remove.
  [[dont_unroll]] for (uint part = 0u; part < 2u; ++part) {
    bool first_part = part == 0u;
    if (first_part ? by_probability(which) : by_count(which)) continue;
    if (!first_part && keys == BY_SCORE && (stay == 1u || which == TOP_H)) {
      spared = key_of(BY_SCORE, most);
      continue;
    }
    uint key = select(keys, first_part ? weights_of(which) : COUNT, first_part ? target_of(which) : stay);
    if (first_part)
      least = which == TOP_H && key != ALL ? key + 1u : key;
    else if (keys == BY_SURPRISE)
      least = min(least, key);
    else
      spared = key;
  }
  if (of_rest() && rest_stays(keys, least, spared)) {
    take_row();
    return false;
  }
  has_rest = false;
  keep(keys, least, spared);
  keep_few();
  return true;
}

// The interval that stays of the lists; everything if no filter was on or the row itself was filtered.
void give_interval() {
  vec2 interval = vec2(-EVERYTHING, EVERYTHING);
  if (from_lists && !has_rest) {
    float low = EVERYTHING, high = -EVERYTHING;
    for (uint n = lane; n < vectors; n += LOCAL) {
      vec4 v = load(n);
      for (uint c = 0u; c < 4u; ++c)
        if (!forbidden(v[c])) {
          low = min(low, v[c]);
          high = max(high, v[c]);
        }
    }
    interval = vec2(-reduce_max(-low), reduce_max(high));
  }
  if (lane == 0u) lists[interval_at(row)] = vec4(interval, 0.0, 0.0);
}

void main() {
  row = group_index();
  if (row >= p.groups) return;
  if (p.first_row + row >= step_word(STEP_LIVE)) return;
  place_params(beam_slot_of(row_word(p.first_row + row)), p.beams);
  lane = gl_LocalInvocationIndex;
  base = p.begin4 + row * p.ld4;
  few = false;
  most = LARGEST;  // until measure() runs: no score is probable enough
  if (LISTS != 0u) {
    take_lists();
  } else {
    take_row();
    temperature();
  }
  // One loop around one copy of the passes: compilers would inline a copy per call.
  [[dont_unroll]] for (uint f = 0u; f < FILTERS;)
    if (!is_on(f) || run(f)) ++f;
  if (LISTS != 0u) give_interval();
  if (!of_lists()) give_back();
}
