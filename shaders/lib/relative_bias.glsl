// Relative position bias of attention (ops/attention/attention.hpp), for kernels with push constants p and queries q:
// by distance, or, MAP_BIAS, between places in windows of a map. BIAS_ROWS_ID: the id of the constant that says where
// the values are.
#ifdef MAP_BIAS
layout(std430, set = 0, binding = 3) readonly buffer MapBias { float map_bias[]; };  // [distances][heads]

float bias_of(uint key, uint query, uint head, uint window) {
  uint side = p.window, edge = side - p.map_shift, at = window % (p.map_rows * p.map_columns);
  uvec2 to = uvec2(key % side, key / side), from = uvec2(query % side, query / side), d = from + (side - 1u) - to;
  bvec2 last = bvec2(at / p.map_columns + 1u == p.map_rows, at % p.map_columns + 1u == p.map_columns);
  bvec2 apart = bvec2((to.x < edge) != (from.x < edge), (to.y < edge) != (from.y < edge));
  float bias = map_bias[(d.x * (2u * side - 1u) + d.y) * p.all_heads + head];
  return (last.x && apart.x) || (last.y && apart.y) ? bias - 100.0 : bias;
}
#else
layout(std140, set = 0, binding = 5) uniform Distances { vec4 buckets[1024]; };  // bucket of each distance
layout(std140, set = 0, binding = 7) uniform Bias { vec4 bias[1024]; };          // [buckets][heads]
layout(constant_id = BIAS_ROWS_ID) const uint BIAS_ROWS = 0;  // 1: not in the table, but after the columns of q

float q_number(const uint at) {
#ifdef VEC
  return q[at >> 2][at & 3u];
#else
  return q[at];
#endif
}

// `row`: word of q where the query's row begins.
float bias_of(uint key, uint query, uint head, uint row) {
  uint i = uint(clamp(int(key) - int(query) - p.bias_low, 0, int(p.bias_last)));
  uint at = uint(buckets[i >> 2][i & 3u]) * p.all_heads + head;
  if (BIAS_ROWS == 0u) return bias[at >> 2][at & 3u];
  return q_number(at + row + p.bias_column);
}
#endif
