// Reads and writes numbers of keys and values at KV_BINDING; indices count numbers. In fp16 two neighbours share a
// word: one invocation writes them as a pair whose first index is even. Needs panel.glsl.
#include "kv.glsl"
#ifdef KV_FORMAT_ID
#include "narrow.glsl"
layout(std430, set = 0, binding = KV_BINDING) buffer KV { uint kv[]; };
// fp32 only.
float kv_number(const uint at) { return uintBitsToFloat(kv[at]); }
void store_kv_number(const uint at, const float v) { kv[at] = floatBitsToUint(v); }
vec2 kv_pair(const uint at) {
  if (KV_FORMAT == KV_FP16) return unpackHalf2x16(kv[at / 2u]);
  return vec2(kv_number(at), kv_number(at + 1u));
}
void store_kv_pair(const uint at, const vec2 v) {
  if (KV_FORMAT == KV_FP16) {
    kv[at / 2u] = kv_half(floatBitsToUint(v.x)) | kv_half(floatBitsToUint(v.y)) << 16;
  } else {
    store_kv_number(at, v.x);
    store_kv_number(at + 1u, v.y);
  }
}
#else
layout(std430, set = 0, binding = KV_BINDING) buffer KV { float kv[]; };
float kv_number(const uint at) { return kv[at]; }
void store_kv_number(const uint at, const float v) { kv[at] = v; }
vec2 kv_pair(const uint at) { return vec2(kv[at], kv[at + 1u]); }
void store_kv_pair(const uint at, const vec2 v) {
  kv[at] = v.x;
  kv[at + 1u] = v.y;
}
#endif
