// The bias of attention by relative position (ops/attention.hpp), for kernels with the push constants p and the queries
// q. BIAS 1: a table, 2: values behind the columns of q (of vec4 if VEC).
layout(std140, set = 0, binding = 5) uniform Distances { vec4 buckets[1024]; };  // bucket of each distance
#if BIAS == 1
layout(std140, set = 0, binding = 7) uniform Bias { vec4 bias[1024]; };  // [buckets][heads]
#endif

// `row`: word of q at which the query's row begins.
float bias_of(uint key, uint query, uint head, uint row) {
  uint i = uint(clamp(int(key) - int(query) - p.bias_low, 0, int(p.bias_last)));
  uint at = uint(buckets[i >> 2][i & 3u]) * p.all_heads + head;
#if BIAS == 1
  return bias[at >> 2][at & 3u];
#else
  at += row + p.bias_column;
#ifdef VEC
  return q[at >> 2][at & 3u];
#else
  return q[at];
#endif
#endif
}
