#version 450
// Temperature and the filters of sampling over a row of scores, in place; one workgroup a row. A filter forbids what ranks
// below a threshold, which is found without sorting: a histogram of weights (ids, or probability in fixed point, so that the
// sum does not depend on the order of adding) over eight bits of the keys at a time. Loops: about 60 passes over columns / 512
// with all filters on, far from the 65,535 iterations that llvmpipe grants an invocation.
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#define PARAMS_BINDING 1
#include "common.glsl"
#include "state.glsl"
#include "search.glsl"
layout(local_size_x = 128) in;
layout(std430, set = 0, binding = 0) buffer X { vec4 x[]; };
layout(push_constant) uniform P {
  uint groups;
  uint columns, ld4, begin4;
  uint first_row;
  uint beams;
} p;

const uint LOCAL = 128u, BINS = 256u;
const uint BY_SCORE = 0u, BY_SURPRISE = 1u;         // keys
const uint COUNT = 0u, MASS = 1u, ENTROPY = 2u;     // weights
const uint ALL = 0u;                                // a key below every other
const float MASS_UNIT = 2147483648.0, ENTROPY_UNIT = 134217728.0;
const float LARGEST = 9e28;                         // scores beyond would count as forbidden
shared uint histogram[BINS];
shared vec2 part[LOCAL];
shared uint sixteens[16];  // sums of sixteen bins each
shared uint found_digit, found_rest;

uint lane, base;
float most, total, weighted;  // of what is allowed: the maximum, sum e^(x - most), sum e^(x - most) (x - most)
float typical;                // the score at which the surprise is the entropy

// Columns beyond the row's are like forbidden ones.
vec4 load(uint i) {
  uvec4 column = uvec4(4u * i) + uvec4(0u, 1u, 2u, 3u);
  return mix(vec4(MASKED), x[base + i], lessThan(column, uvec4(p.columns)));
}
void store(uint i, vec4 v) {
  uvec4 column = uvec4(4u * i) + uvec4(0u, 1u, 2u, 3u);
  x[base + i] = mix(vec4(0.0), v, lessThan(column, uvec4(p.columns)));  // the padding stays zero
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
  for (uint i = lane; i < p.ld4; i += LOCAL) {
    vec4 v = load(i);
    own = max(own, max(max(v.x, v.y), max(v.z, v.w)));
  }
  most = reduce_max(own);
  vec2 sums = vec2(0.0);
  for (uint i = lane; i < p.ld4; i += LOCAL) {
    vec4 v = load(i);
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
    for (uint i = lane; i < p.ld4; i += LOCAL) {
      vec4 v = load(i);
      run = count_first(run, keys, weights, v.x);
      run = count_first(run, keys, weights, v.y);
      run = count_first(run, keys, weights, v.z);
      run = count_first(run, keys, weights, v.w);
    }
    if (run.y != 0u) atomicAdd(histogram[run.x], run.y);
    return;
  }
  for (uint i = lane; i < p.ld4; i += LOCAL) {
    vec4 v = load(i);
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
    histogram[lane] = 0u;
    histogram[lane + LOCAL] = 0u;
    barrier();
    count_all(keys, weights, prefix, shift);
    barrier();
    if (lane < 16u) {
      uint sum = 0u;
      for (uint b = 0u; b < 16u; ++b) sum += histogram[16u * lane + b];
      sixteens[lane] = sum;
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
  for (uint i = lane; i < p.ld4; i += LOCAL) store(i, pass_keys(keys, load(i), least, spared));
}

const uint NOTHING_SPARED = 0xffffffffu;

// The key of the ids that no filter takes away.
uint spared_key(uint keys) { return select(keys, COUNT, max(param(P_MIN_KEEP), 1u)); }

// Keeps probabilities of at least `limit`, in units of e^most / total.
void keep_probable(float limit) {
  uint spared = spared_key(BY_SCORE);
  for (uint i = lane; i < p.ld4; i += LOCAL) {
    vec4 v = load(i);
    bvec4 little = lessThan(exp(max(v - most, vec4(-200.0))), vec4(limit));
    bvec4 low = bvec4(key_of(BY_SCORE, v.x) < spared, key_of(BY_SCORE, v.y) < spared, key_of(BY_SCORE, v.z) < spared,
                      key_of(BY_SCORE, v.w) < spared);
    v.x = little.x && low.x ? MASKED : v.x;
    v.y = little.y && low.y ? MASKED : v.y;
    v.z = little.z && low.z ? MASKED : v.z;
    v.w = little.w && low.w ? MASKED : v.w;
    store(i, v);
  }
}

void temperature() {
  float by = param_float(P_TEMPERATURE);
  if (by == 1.0) return;
  for (uint i = lane; i < p.ld4; i += LOCAL) {
    vec4 v = load(i);
    store(i, mix(clamp(v / by, vec4(-LARGEST), vec4(LARGEST)), vec4(MASKED), lessThanEqual(v, vec4(FORBIDDEN))));
  }
}

// The hundred best; of these as many as stay within a share of their entropy.
void top_h() {
  float share = param_float(P_TOP_H);
  if (share == 0.0) return;
  keep_keys(BY_SCORE, select(BY_SCORE, COUNT, 100u), NOTHING_SPARED);
  if (share >= 1.0) return;
  measure();
  float entropy = max(log(total) - weighted / total, 0.0);
  uint over = select(BY_SCORE, ENTROPY, uint(entropy * share * ENTROPY_UNIT) + 1u);
  keep_keys(BY_SCORE, over == ALL ? ALL : over + 1u, key_of(BY_SCORE, most));
}

void top_p() {
  float mass = param_float(P_TOP_P);
  if (mass >= 1.0) return;
  measure();
  uint least = select(BY_SCORE, MASS, max(uint(mass * MASS_UNIT), 1u));
  keep_keys(BY_SCORE, least, spared_key(BY_SCORE));
}

void typical_p() {
  float mass = param_float(P_TYPICAL_P);
  if (mass >= 1.0) return;
  measure();
  uint least = select(BY_SURPRISE, MASS, max(uint(mass * MASS_UNIT), 1u));
  keep_keys(BY_SURPRISE, min(least, spared_key(BY_SURPRISE)), NOTHING_SPARED);
}

void cutoffs() {
  float epsilon = param_float(P_EPSILON), eta = param_float(P_ETA);
  if (epsilon > 0.0) {
    measure();
    keep_probable(epsilon * total);
  }
  if (eta > 0.0) {
    measure();
    float entropy = log(total) - weighted / total;
    keep_probable(min(eta, sqrt(eta) * exp(-entropy)) * total);
  }
}

void main() {
  uint row = group_index();
  if (row >= p.groups) return;
  if (p.first_row + row >= step_word(STEP_LIVE)) return;
  place_params(slot_of(row_word(p.first_row + row)), p.beams);
  lane = gl_LocalInvocationIndex;
  base = p.begin4 + row * p.ld4;
  temperature();
  top_h();
  if (param(P_TOP_K) != 0u) keep_keys(BY_SCORE, select(BY_SCORE, COUNT, param(P_TOP_K)), NOTHING_SPARED);
  top_p();
  if (param_float(P_MIN_P) > 0.0) {
    measure();
    keep_probable(param_float(P_MIN_P));
  }
  typical_p();
  cutoffs();
}
