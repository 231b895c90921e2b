// Reads keys and values in elements of a head (T of head_columns.glsl); indices count elements. An element of halves fills
// half of a KV_WORDS, which is loaded as a whole: kernels that read a head from its first element take KV_EACH elements
// from each load. TEXELS (with VEC, on CPU drivers): they are bound as texels.
#include "kv.glsl"
#ifndef KV_FORMAT_ID
#define KV_WORDS T
const uint KV_EACH = 1u;
T kv_element(const KV_WORDS words, const uint element) { return words; }
#else
const uint KV_EACH = KV_FORMAT == KV_FP16 ? 2u : 1u;
#ifdef VEC
#define KV_WORDS uvec4
T kv_element(const KV_WORDS words, const uint element) {
  if (KV_FORMAT == KV_FP32) return uintBitsToFloat(words);
  uvec2 halves = element % 2u == 0u ? words.xy : words.zw;
  return vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
}
#else
#define KV_WORDS uint
T kv_element(const KV_WORDS words, const uint element) {
  if (KV_FORMAT == KV_FP32) return uintBitsToFloat(words);
  vec2 halves = unpackHalf2x16(words);
  return element % 2u == 0u ? halves.x : halves.y;
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

T kv_load(const uint at) { return kv_element(kv_words(at / KV_EACH), at); }
