#version 450
// Temperature and the filters of sampling over a row of scores, in place; one workgroup a row. A filter forbids what ranks
// below a threshold, which is found without sorting: a histogram of weights (ids, or probability in fixed point, so that the
// sum does not depend on the order of adding) over eight bits of the keys at a time. Passes over the row are what costs: as soon
// as few ids are left they are kept in shared memory, and the passes that follow see these alone. Loops: about 60 passes over
// columns / (4 LOCAL) at most, far from the 65,535 iterations that llvmpipe grants an invocation.
#extension GL_GOOGLE_include_directive : enable
#extension GL_EXT_control_flow_attributes : enable
#define USE_STEP
#define PARAMS_BINDING 1
#include "common.glsl"
#include "state.glsl"
#include "search.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 128;
layout(std430, set = 0, binding = 0) buffer X { vec4 x[]; };
layout(push_constant) uniform P {
  uint groups;
  uint columns, ld4, begin4;
  uint first_row;
  uint beams;
} p;

const uint BINS = 256u, LANES = 512u, KEPT = 256u;
const uint BY_SCORE = 0u, BY_SURPRISE = 1u;         // keys
const uint COUNT = 0u, MASS = 1u, ENTROPY = 2u;     // weights
const uint ALL = 0u;                                // a key below every other
const float MASS_UNIT = 2147483648.0, ENTROPY_UNIT = 134217728.0;
const float LARGEST = 9e28;                         // scores beyond would count as forbidden
shared uint histogram[BINS];
shared vec2 part[LANES];
shared uint counts[LANES];
shared vec4 kept[KEPT];  // vectors in which something is allowed, and where they are in the row
shared uint places[KEPT];
shared uint sixteens[16];  // sums of sixteen bins each
shared uint found_digit, found_rest;

uint lane, base;
uint vectors;        // of the row, or of those that are kept
bool few;            // which of the two
uint first, behind;  // of those that are kept, the lane's own
float most, total, weighted;  // of what is allowed: the maximum, sum e^(x - most), sum e^(x - most) (x - most)
float typical;                // the score at which the surprise is the entropy

// Columns beyond the row's are like forbidden ones.
bvec4 in_row(uint place) { return lessThan(uvec4(4u * place) + uvec4(0u, 1u, 2u, 3u), uvec4(p.columns)); }
vec4 load(uint n) {
  if (few) return kept[n];
  return mix(vec4(MASKED), x[base + n], in_row(n));
}
void store(uint n, vec4 v) {
  if (few)
    kept[n] = v;
  else
    x[base + n] = mix(vec4(0.0), v, in_row(n));  // the padding stays zero
}

float reduce_max(float value) {
  barrier();
  part[lane].x = value;
  barrier();
  for (uint s = LOCAL >> 1; s > 0u; s >>= 1) {
    if (lane < s) part[lane].x = max(part[lane].x, part[lane + s].x);
    barrier();
  }
  return part[0].x;
}
vec2 reduce_sum(vec2 value) {
  barrier();
  part[lane] = value;
  barrier();
  for (uint s = LOCAL >> 1; s > 0u; s >>= 1) {
    if (lane < s) part[lane] += part[lane + s];
    barrier();
  }
  return part[0];
}

// Sets most, total and weighted.
void measure() {
  float own = MASKED;
  for (uint n = lane; n < vectors; n += LOCAL) {
    vec4 v = load(n);
    own = max(own, max(max(v.x, v.y), max(v.z, v.w)));
  }
  most = reduce_max(own);
  vec2 sums = vec2(0.0);
  for (uint n = lane; n < vectors; n += LOCAL) {
    vec4 v = load(n);
    vec4 away = max(v - most, vec4(-200.0));
    vec4 e = mix(exp(away), vec4(0.0), lessThanEqual(v, vec4(FORBIDDEN)));
    sums += vec2(dot(e, vec4(1.0)), dot(e, away));
  }
  sums = reduce_sum(sums);
  total = max(sums.x, 1e-30);
  weighted = sums.y;
  typical = most + weighted / total;
}

// Greater is better, and no allowed score has the key ALL.
uint key_of(uint keys, float v) {
  if (keys == BY_SURPRISE) return ~floatBitsToUint(abs(typical - v));
  uint bits = floatBitsToUint(v);
  return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
}
uint weight_of(uint weights, float v) {
  if (weights == COUNT) return 1u;
  float away = max(v - most, -200.0), probability = exp(away) / total;
  if (weights == MASS) return uint(probability * MASS_UNIT + 0.5);
  return uint(max(probability * (log(total) - away), 0.0) * ENTROPY_UNIT + 0.5);
}

void count_one(uint keys, uint weights, float v, uint prefix, uint shift) {
  if (forbidden(v)) return;
  uint key = key_of(keys, v);
  if ((key >> (shift + 8u)) == (prefix >> (shift + 8u)))
    atomicAdd(histogram[(key >> shift) & 255u], weight_of(weights, v));
}
// Most scores have the same first digit: an invocation adds up what it finds in a row (a bin and its weight so far), lest
// all of them wait for one bin.
uvec2 count_first(uvec2 run, uint keys, uint weights, float v) {
  if (forbidden(v)) return run;
  uint bin = key_of(keys, v) >> 24, weight = weight_of(weights, v);
  if (bin == run.x) return uvec2(bin, run.y + weight);
  if (run.y != 0u) atomicAdd(histogram[run.x], run.y);
  return uvec2(bin, weight);
}
void count_all(uint keys, uint weights, uint prefix, uint shift) {
  if (shift == 24u) {
    uvec2 run = uvec2(0u);
    for (uint n = lane; n < vectors; n += LOCAL) {
      vec4 v = load(n);
      run = count_first(run, keys, weights, v.x);
      run = count_first(run, keys, weights, v.y);
      run = count_first(run, keys, weights, v.z);
      run = count_first(run, keys, weights, v.w);
    }
    if (run.y != 0u) atomicAdd(histogram[run.x], run.y);
    return;
  }
  for (uint n = lane; n < vectors; n += LOCAL) {
    vec4 v = load(n);
    count_one(keys, weights, v.x, prefix, shift);
    count_one(keys, weights, v.y, prefix, shift);
    count_one(keys, weights, v.z, prefix, shift);
    count_one(keys, weights, v.w, prefix, shift);
  }
}

// The greatest key T such that what has at least T weighs at least `target` together; ALL if everything weighs less.
uint select(uint keys, uint weights, uint target) {
  uint prefix = 0u;
  for (uint digit = 0u; digit < 4u; ++digit) {
    uint shift = 24u - 8u * digit;
    barrier();
    for (uint b = lane; b < BINS; b += LOCAL) histogram[b] = 0u;
    barrier();
    count_all(keys, weights, prefix, shift);
    barrier();
    for (uint l = lane; l < 16u; l += LOCAL) {
      uint sum = 0u;
      for (uint b = 0u; b < 16u; ++b) sum += histogram[16u * l + b];
      sixteens[l] = sum;
    }
    barrier();
    if (lane == 0u) {
      uint above = 0u, s = 16u, at = BINS;
      for (; s > 0u && sixteens[s - 1u] < target - above; --s) above += sixteens[s - 1u];
      for (uint b = 16u * s; s > 0u && at == BINS; --b) {
        if (histogram[b - 1u] >= target - above)
          at = b - 1u;
        else
          above += histogram[b - 1u];
      }
      found_digit = at;
      found_rest = target - above;
    }
    barrier();
    if (found_digit == BINS) return ALL;
    prefix |= found_digit << shift;
    target = found_rest;
  }
  return prefix;
}

// Forbids keys below `least`, except scores of at least `spared` (a key BY_SCORE).
vec4 pass_keys(uint keys, vec4 v, uint least, uint spared) {
  vec4 y = v;
  if (!(key_of(keys, v.x) >= least || key_of(BY_SCORE, v.x) >= spared)) y.x = MASKED;
  if (!(key_of(keys, v.y) >= least || key_of(BY_SCORE, v.y) >= spared)) y.y = MASKED;
  if (!(key_of(keys, v.z) >= least || key_of(BY_SCORE, v.z) >= spared)) y.z = MASKED;
  if (!(key_of(keys, v.w) >= least || key_of(BY_SCORE, v.w) >= spared)) y.w = MASKED;
  return mix(y, vec4(MASKED), lessThanEqual(v, vec4(FORBIDDEN)));
}
void keep_keys(uint keys, uint least, uint spared) {
  for (uint n = lane; n < vectors; n += LOCAL) store(n, pass_keys(keys, load(n), least, spared));
}

bool has_some(vec4 v) { return any(greaterThan(v, vec4(FORBIDDEN))); }

// The lane's vectors come one after the other, so that their order, and with it that of every sum, is always the same, and
// no lane needs what another has written to the row.
void keep_few() {
  if (few) return;
  uint own = 0u;
  for (uint n = lane; n < vectors; n += LOCAL) own += has_some(load(n)) ? 1u : 0u;
  counts[lane] = own;
  barrier();
  for (uint s = 1u; s < LOCAL; s <<= 1) {
    uint before = lane >= s ? counts[lane - s] : 0u;
    barrier();
    counts[lane] += before;
    barrier();
  }
  uint all = counts[LOCAL - 1u];
  if (all > KEPT) return;
  behind = counts[lane];
  first = behind - own;
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

// What is off is passed over; the others in this order. One loop around one copy of the passes: compilers would put a copy
// wherever a function is called.
const uint TOP_H_BEST = 0u, TOP_H = 1u, TOP_K = 2u, TOP_P = 3u, MIN_P = 4u, TYPICAL_P = 5u, EPSILON = 6u, ETA = 7u, FILTERS = 8u;

bool is_on(uint which) {
  switch (which) {
    case TOP_H_BEST: return param_float(P_TOP_H) > 0.0;  // the hundred best, of which it takes a share of their entropy
    case TOP_H: return param_float(P_TOP_H) > 0.0 && param_float(P_TOP_H) < 1.0;
    case TOP_K: return param(P_TOP_K) != 0u;
    case TOP_P: return param_float(P_TOP_P) < 1.0;
    case MIN_P: return param_float(P_MIN_P) > 0.0;
    case TYPICAL_P: return param_float(P_TYPICAL_P) < 1.0;
    case EPSILON: return param_float(P_EPSILON) > 0.0;
    default: return param_float(P_ETA) > 0.0;
  }
}
bool by_count(uint which) { return which == TOP_H_BEST || which == TOP_K; }
bool by_probability(uint which) { return which == MIN_P || which == EPSILON || which == ETA; }

// What the best weigh that stay, in the units of weight_of().
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
// Of e^(score - most), for filters by probability.
float limit_of(uint which) {
  if (which == MIN_P) return param_float(P_MIN_P);
  if (which == EPSILON) return param_float(P_EPSILON) * total;
  float eta = param_float(P_ETA), entropy = log(total) - weighted / total;
  return min(eta, sqrt(eta) * exp(-entropy)) * total;
}

const uint NOTHING = 0xffffffffu;  // a key that no score has
float limit;                       // infinite: none

// What stays has at least the key `least`, or as a score at least the key `spared`, or is probable enough.
float pass_one(uint keys, float v, uint least, uint spared) {
  bool stays = key_of(keys, v) >= least || key_of(BY_SCORE, v) >= spared || exp(max(v - most, -200.0)) >= limit;
  return stays && !forbidden(v) ? v : MASKED;
}
void keep(uint keys, uint least, uint spared) {
  for (uint n = lane; n < vectors; n += LOCAL) {
    vec4 v = load(n);
    store(n, vec4(pass_one(keys, v.x, least, spared), pass_one(keys, v.y, least, spared),
                  pass_one(keys, v.z, least, spared), pass_one(keys, v.w, least, spared)));
  }
}

void run(uint which) {
  if (!by_count(which)) measure();
  uint keys = which == TYPICAL_P ? BY_SURPRISE : BY_SCORE, stay = max(param(P_MIN_KEEP), 1u);
  uint least = NOTHING, spared = NOTHING;
  limit = by_probability(which) ? limit_of(which) : 1e30;
  // First the threshold, then the key of the ids that no filter takes away.
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
  keep(keys, least, spared);
  keep_few();
}

void temperature() {
  float by = param_float(P_TEMPERATURE);
  if (by == 1.0) return;
  for (uint n = lane; n < vectors; n += LOCAL) {
    vec4 v = load(n);
    store(n, mix(clamp(v / by, vec4(-LARGEST), vec4(LARGEST)), vec4(MASKED), lessThanEqual(v, vec4(FORBIDDEN))));
  }
}

void main() {
  uint row = group_index();
  if (row >= p.groups) return;
  if (p.first_row + row >= step_word(STEP_LIVE)) return;
  place_params(slot_of(row_word(p.first_row + row)), p.beams);
  lane = gl_LocalInvocationIndex;
  base = p.begin4 + row * p.ld4;
  vectors = p.ld4;
  few = false;
  temperature();
  [[dont_unroll]] for (uint f = 0u; f < FILTERS; ++f)
    if (is_on(f)) run(f);
  give_back();
}
