// Sampling thresholds without sorting: histograms of weights (ids, or probability in fixed point, so that the sum does
// not depend on the order of adding) over eight bits of the keys at a time. Needs state.glsl with the options,
// search.glsl, warp.glsl.
const uint BINS = 256u, LANES = 512u;
const uint BY_SCORE = 0u, BY_SURPRISE = 1u;         // keys
const uint COUNT = 0u, MASS = 1u, ENTROPY = 2u;     // weights
const uint ALL = 0u;                                // a key below every other
const float MASS_UNIT = 2147483648.0, ENTROPY_UNIT = 134217728.0;
const float LARGEST = 9e28;                         // larger scores would count as forbidden
shared uint histogram[BINS];
shared vec2 part[LANES];
shared uint counts[LANES];
shared uint sixteens[16];  // sums of sixteen bins each
shared uint found_digit, found_rest;

uint lane;
uint vectors;               // bound of n in load() and store()
float most, total;          // over the allowed scores: the maximum, sum e^(x - most)
float typical;              // the score at which the surprise is the entropy

// The lane's own vectors: lane, lane + LOCAL...
vec4 load(uint n);
void store(uint n, vec4 v);

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

float best_of(vec4 v) { return max(max(v.x, v.y), max(v.z, v.w)); }
// Sums of e^(x - best) and e^(x - best) (x - best) over the allowed scores.
vec2 sums_of(vec4 v, float best) {
  vec4 away = max(v - best, vec4(-200.0));
  vec4 e = mix(exp(away), vec4(0.0), lessThanEqual(v, vec4(FORBIDDEN)));
  return vec2(dot(e, vec4(1.0)), dot(e, away));
}

// Prefix sum over the lanes' counts: the count before the lane's own, and the total. The order is fixed, and so is that
// of every sum over values gathered with it.
uvec2 before_and_all(uint own) {
  barrier();
  counts[lane] = own;
  barrier();
  for (uint s = 1u; s < LOCAL; s <<= 1) {
    uint before = lane >= s ? counts[lane - s] : 0u;
    barrier();
    counts[lane] += before;
    barrier();
  }
  return uvec2(counts[lane] - own, counts[LOCAL - 1u]);
}

// A greater key is better, and no allowed score has the key ALL.
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
// Most scores have the same first digit: an invocation accumulates runs of equal bins (bin and weight so far), so that
// not all invocations contend for one bin.
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

// The greatest key T such that the scores with keys of at least T weigh at least `target` together; ALL if everything
// weighs less.
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

void temperature() {
  float by = param_float(P_TEMPERATURE);
  if (by == 1.0) return;
  for (uint n = lane; n < vectors; n += LOCAL) {
    vec4 v = load(n);
    vec4 y = mix(clamp(v / by, vec4(-LARGEST), vec4(LARGEST)), vec4(MASKED), lessThanEqual(v, vec4(FORBIDDEN)));
    store(n, mix(y, v, bvec4(is_unusable(v.x), is_unusable(v.y), is_unusable(v.z), is_unusable(v.w))));
  }
}

// The filters in order; those that are off are skipped.
const uint TOP_H_BEST = 0u, TOP_H = 1u, TOP_K = 2u, TOP_P = 3u, MIN_P = 4u, TYPICAL_P = 5u, EPSILON = 6u, ETA = 7u, FILTERS = 8u;

bool is_on(uint which) {
  switch (which) {
    case TOP_H_BEST: return param_float(P_TOP_H) > 0.0;  // the hundred best, over whose entropy top_h is computed
    case TOP_H: return param_float(P_TOP_H) > 0.0 && param_float(P_TOP_H) < 1.0;
    case TOP_K: return param(P_TOP_K) != 0u;
    case TOP_P: return param_float(P_TOP_P) < 1.0;
    case MIN_P: return param_float(P_MIN_P) > 0.0;
    case TYPICAL_P: return param_float(P_TYPICAL_P) < 1.0;
    case EPSILON: return param_float(P_EPSILON) > 0.0;
    default: return param_float(P_ETA) > 0.0;
  }
}
