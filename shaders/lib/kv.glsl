// Layout of keys and values in words: the GPU's view of lapilli::KvLayout in src/ops/core/kv_layout.hpp (a test
// compares the two). Indices count numbers, in fp32 and in fp16. KV_FORMAT_ID: the id of the constant that selects the
// format, so that compilers drop the other one; kernels without it support fp32 only.
// The values are those of lapilli::KvFormat.
const uint KV_FP32 = 0u, KV_FP16 = 1u;
#ifdef KV_FORMAT_ID
layout(constant_id = KV_FORMAT_ID) const uint KV_FORMAT = 0;
#else
const uint KV_FORMAT = KV_FP32;
#endif
