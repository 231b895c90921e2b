#version 450
// Attention of the rows of an encode pass, or (STEP, TILE) of a prompt, by two matrix products in registers, with a
// running softmax between them (Milakov and Gimelshein 2018). A workgroup is one subgroup and takes QT queries of one
// head. For the scores a lane holds four keys and the lanes pass the queries around; for the sums a lane holds columns
// and the lanes pass the weights around. As in matmul_lanes.comp; keys and values are read as texels (TEXELS).
#extension GL_GOOGLE_include_directive : enable
#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_shader_subgroup_shuffle : enable
#define LANES
#include "attention_operands.glsl"
#include "attention_place.glsl"
#include "products.glsl"

// A lane holds at most this many vec4s of a head's columns.
#ifndef PASSES
#define PASSES 2u
#endif

// llvmpipe moves from a lane that all invocations agree on in one instruction, but makes a loop over the lanes of every
// other shuffle; its translation takes a time that grows with the square of the number of loops and branches. A value
// from each lane in turn is thus cheaper than a butterfly of exchanges.
float max_of_lanes(float v) {
  float most = v;
  for (uint l = 0u; l < LOCAL; ++l) most = max(most, subgroupShuffle(v, l));
  return most;
}

float sum_of_lanes(float v) {
  float all = 0.0;
  for (uint l = 0u; l < LOCAL; ++l) all += subgroupShuffle(v, l);
  return all;
}

// Location of a key.
uint find_key(const uint number) {
#ifdef STEP
  return kv_at(head, number >= step ? slot : lineage[ancestry + number], number);
#else
  return kv_at(head, slot, number);
#endif
}

// The keys that query i sees.
bvec4 seen_by(const uint i, const uvec4 key) {
#ifdef STEP
  return lessThanEqual(uvec4(first + i) - key, uvec4(min(p.window, p.positions - 1u)));  // after its own: wraps
#else
  return lessThan(key, uvec4(p.causal != 0u ? min(end, first + i + 1u) : end));
#endif
}

void main() {
  uint group = group_index(), lane = gl_SubgroupInvocationID;
  if (group >= p.groups || !find_place(group)) return;

  vec4 part[PASSES][QT], acc[PASSES][QT];
  float top[QT], sum[QT];
  // Each load and store has branches of its own in llvmpipe's code: these loops stay loops.
  [[dont_unroll]] for (uint i = 0u; i < uint(QT); ++i) {
    uint qi = (p.q_begin + (first_row + min(i, count - 1u)) * p.ld + head * HEAD_DIM) / WIDTH;
    for (uint pass = 0u; pass < PASSES; ++pass) {
      part[pass][i] = q[qi + min(pass * LOCAL + lane, PARTS - 1u)] * p.scale;
      acc[pass][i] = vec4(0.0);
    }
    top[i] = MASKED;
    sum[i] = 0.0;
  }
  // A tile's queries see keys from different positions on, and have the same chunks.
#ifdef STEP
  uint opening = begin - begin % (4u * LOCAL);
#else
  uint opening = begin;
#endif
  for (uint base = opening; base < end; base += 4u * LOCAL) {
    uvec4 key = uvec4(base + 4u * lane) + uvec4(0, 1, 2, 3);
    uint at[4];
    for (uint c = 0u; c < 4u; ++c) at[c] = find_key(clamp(key[c], begin, end - 1u));
    vec4 s[QT];
    for (uint i = 0u; i < uint(QT); ++i) s[i] = vec4(0.0);
    [[unroll]] for (uint pass = 0u; pass < PASSES; ++pass)
      for (uint k = 0u; k < min(LOCAL, PARTS - min(PARTS, pass * LOCAL)); ++k) {
        uint d = pass * LOCAL + k;
        mat4 keys = transpose(mat4(kv_load(at[0] + d), kv_load(at[1] + d), kv_load(at[2] + d), kv_load(at[3] + d)));
        [[unroll]] for (uint i = 0u; i < uint(QT); ++i) {
          vec4 v = subgroupShuffle(part[pass][i], k);
          s[i] = add_products(s[i], v, keys[0], keys[1], keys[2], keys[3]);
        }
      }
    float shrink[QT];
    [[unroll]] for (uint i = 0u; i < uint(QT); ++i) {
      bvec4 there = seen_by(i, key);
      s[i] = capped(s[i]);
#ifdef BIAS
      [[unroll]] for (uint c = 0u; c < 4u; ++c) s[i][c] += bias_of(key[c], first + i, head, 0u);
#endif
      s[i] = mix(vec4(MASKED), s[i], there);
      float now = max(top[i], max_of_lanes(max(max(s[i].x, s[i].y), max(s[i].z, s[i].w))));
      s[i] = mix(vec4(0.0), exp(s[i] - now), there);
      shrink[i] = exp(top[i] - now);
      sum[i] = sum[i] * shrink[i] + s[i].x + s[i].y + s[i].z + s[i].w;
      top[i] = now;
    }
    // Each chunk is summed separately: one sum over all keys would lose digits when there are thousands.
    [[unroll]] for (uint pass = 0u; pass < PASSES; ++pass) {
      if (pass * LOCAL >= PARTS) break;
      uint column = PARTS + min(pass * LOCAL + lane, PARTS - 1u);
      vec4 chunk[QT];
      for (uint i = 0u; i < uint(QT); ++i) chunk[i] = vec4(0.0);
      for (uint l = 0u; l < min(LOCAL, (end - base + 3u) / 4u); ++l) {
        vec4 v0 = kv_load(subgroupShuffle(at[0], l) + column), v1 = kv_load(subgroupShuffle(at[1], l) + column);
        vec4 v2 = kv_load(subgroupShuffle(at[2], l) + column), v3 = kv_load(subgroupShuffle(at[3], l) + column);
        [[unroll]] for (uint i = 0u; i < uint(QT); ++i) {
          vec4 w = subgroupShuffle(s[i], l);
          chunk[i] = add_products(chunk[i], w, v0, v1, v2, v3);
        }
      }
      for (uint i = 0u; i < uint(QT); ++i) acc[pass][i] = acc[pass][i] * shrink[i] + chunk[i];
    }
  }
  [[dont_unroll]] for (uint i = 0u; i < uint(QT); ++i) {
    float all = sum_of_lanes(sum[i]);
    float inv = all > 0.0 ? 1.0 / all : 0.0;  // no keys at all give zeros
    if (i >= count) continue;
    uint out_row = p.out_begin + (first_row + i) * p.out_ld, out_at = (out_row + head * HEAD_DIM) / WIDTH;
    for (uint pass = 0u; pass < PASSES; ++pass)
      if (pass * LOCAL + lane < PARTS) context[out_at + pass * LOCAL + lane] = acc[pass][i] * inv;
#ifdef STEP
    if (lane == 0u) put_log_sum(out_row, head, top[i], all);
#endif
  }
}
