// Reads keys and values in pieces of a head (T of head_columns.glsl); indices count pieces. A piece of halves fills
// half of a KV_WORDS, which is loaded as a whole: kernels that read a head from its first piece take KV_EACH pieces
// from each load. TEXELS (with VEC, on CPU drivers): they are bound as texels.
#include "kv.glsl"
#ifndef KV_FORMAT_ID
#define KV_WORDS T
const uint KV_EACH = 1u;
T kv_piece(const KV_WORDS words, const uint piece) { return words; }
#else
const uint KV_EACH = KV_FORMAT == KV_FP16 ? 2u : 1u;
#ifdef VEC
#define KV_WORDS uvec4
T kv_piece(const KV_WORDS words, const uint piece) {
  if (KV_FORMAT == KV_FP32) return uintBitsToFloat(words);
  uvec2 halves = piece % 2u == 0u ? words.xy : words.zw;
  return vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
}
#else
#define KV_WORDS uint
T kv_piece(const KV_WORDS words, const uint piece) {
  if (KV_FORMAT == KV_FP32) return uintBitsToFloat(words);
  vec2 halves = unpackHalf2x16(words);
  return piece % 2u == 0u ? halves.x : halves.y;
}
#endif
#endif

#ifdef TEXELS
layout(set = 0, binding = 10, rgba32ui) readonly uniform uimageBuffer kv;
#ifdef KV_FORMAT_ID
KV_WORDS kv_words(const uint at) { return imageLoad(kv, int(at)); }
#else
KV_WORDS kv_words(const uint at) { return uintBitsToFloat(imageLoad(kv, int(at))); }
#endif
#else
layout(std430, set = 0, binding = 1) readonly buffer KV { KV_WORDS kv[]; };
KV_WORDS kv_words(const uint at) { return kv[at]; }
#endif

T kv_load(const uint at) { return kv_piece(kv_words(at / KV_EACH), at); }
