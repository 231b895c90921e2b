#version 450
// The sampling filters over a row that several workgroups share (see lib/warp.glsl), before and after warp.comp with
// LISTS. Without APPLY: temperature, then the best scores of the slice and the weight of its rest. With APPLY: forbids
// scores outside the interval that stays.
#extension GL_GOOGLE_include_directive : enable
#define USE_STEP
#ifndef APPLY
#define PARAMS_BINDING 1
#endif
#include "common.glsl"
#include "state.glsl"
#include "search.glsl"
#include "warp.glsl"
layout(std430, set = 0, binding = 0) buffer X { vec4 x[]; };
#ifdef APPLY
layout(std430, set = 0, binding = 2) readonly buffer Lists { vec4 lists[]; };

bool stays(float v, vec2 interval) {
  return (v >= interval.x && v <= interval.y && !forbidden(v)) || is_unusable(v);
}

void main() {
  uint g = group_index();
  if (g >= p.groups) return;
  uint row = g / p.slices, slice = g % p.slices;
  if (p.first_row + row >= step_word(STEP_LIVE)) return;
  vec2 interval = lists[interval_at(row)].xy;
  if (interval.x <= -EVERYTHING && interval.y >= EVERYTHING) return;
  uint vectors = slice_vectors(), base = p.begin4 + row * p.ld4;
  for (uint n = gl_LocalInvocationIndex; n < vectors; n += LOCAL) {
    uint place = place_of(n, slice);
    if (place >= p.ld4) continue;
    vec4 v = x[base + place];
    bvec4 keep = bvec4(stays(v.x, interval), stays(v.y, interval), stays(v.z, interval), stays(v.w, interval));
    x[base + place] = mix(vec4(0.0), mix(vec4(MASKED), v, keep), in_row(place));  // the padding stays zero
  }
}
#else
layout(std430, set = 0, binding = 2) writeonly buffer Lists { vec4 lists[]; };
#include "threshold.glsl"
shared float listed[LISTED];

uint base, slice;

vec4 load(uint n) {
  uint place = place_of(n, slice);
  return place < p.ld4 ? mix(vec4(MASKED), x[base + place], in_row(place)) : vec4(MASKED);
}
void store(uint n, vec4 v) {
  uint place = place_of(n, slice);
  if (place < p.ld4) x[base + place] = mix(vec4(0.0), v, in_row(place));
}

bool is_listed(float v, uint behind) { return !forbidden(v) && key_of(BY_SCORE, v) > behind; }

// Lists the scores with a key better than `behind`, at most LISTED.
void list(uint behind, uint row) {
  for (uint i = lane; i < LISTED; i += LOCAL) listed[i] = MASKED;
  uint own = 0u;
  for (uint n = lane; n < vectors; n += LOCAL) {
    vec4 v = load(n);
    for (uint c = 0u; c < 4u; ++c) own += is_listed(v[c], behind) ? 1u : 0u;
  }
  uint at = before_and_all(own).x;
  for (uint n = lane; n < vectors; n += LOCAL) {
    vec4 v = load(n);
    for (uint c = 0u; c < 4u; ++c)
      if (is_listed(v[c], behind)) listed[min(at++, LISTED - 1u)] = v[c];
  }
  barrier();
  for (uint i = lane; i < LIST4; i += LOCAL)
    lists[list_at(row, slice) + i] = vec4(listed[4u * i], listed[4u * i + 1u], listed[4u * i + 2u], listed[4u * i + 3u]);
}

vec4 of_rest(vec4 v, uint behind) {
  for (uint c = 0u; c < 4u; ++c)
    if (is_listed(v[c], behind)) v[c] = MASKED;
  return v;
}
void sum_rest(uint behind, uint row) {
  float own = MASKED;
  for (uint n = lane; n < vectors; n += LOCAL) own = max(own, best_of(of_rest(load(n), behind)));
  float best = unless_forbidden(reduce_max(own));
  vec2 sums = vec2(0.0);
  for (uint n = lane; n < vectors; n += LOCAL) sums += sums_of(of_rest(load(n), behind), best);
  sums = reduce_sum(sums);
  if (lane == 0u) lists[rest_at(row, slice)] = vec4(best, sums, 0.0);
}

bool is_any_on() {
  bool any_on = false;
  [[dont_unroll]] for (uint f = 0u; f < FILTERS; ++f) any_on = any_on || is_on(f);
  return any_on;
}

void main() {
  uint g = group_index();
  if (g >= p.groups) return;
  uint row = g / p.slices;
  if (p.first_row + row >= step_word(STEP_LIVE)) return;
  slice = g % p.slices;
  place_params(beam_slot_of(row_word(p.first_row + row)), p.beams);
  lane = gl_LocalInvocationIndex;
  base = p.begin4 + row * p.ld4;
  vectors = slice_vectors();
  temperature();
  if (!is_any_on()) return;
  uint behind = select(BY_SCORE, COUNT, LISTED + 1u);  // ALL: there are fewer
  list(behind, row);
  sum_rest(behind, row);
}
#endif
