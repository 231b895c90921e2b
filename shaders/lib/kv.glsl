// How keys and values lie in words: the GPU's view of lapilli::KvLayout in src/ops/core/kv_layout.hpp (a test compares the two).
// Indices count numbers, in fp32 and in fp16. KV_FORMAT_ID: the constant that says the format, of kernels that know both, so
// that compilers leave the other one away; without it they know fp32.
// lapilli::KvFormat
const uint KV_FP32 = 0u, KV_FP16 = 1u;
#ifdef KV_FORMAT_ID
layout(constant_id = KV_FORMAT_ID) const uint KV_FORMAT = 0;
#else
const uint KV_FORMAT = KV_FP32;
#endif
