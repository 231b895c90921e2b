// Joins (maximum, sum of exp(x - maximum)) of two parts.
vec2 join(vec2 a, vec2 b) {
  float m = max(a.x, b.x);
  return vec2(m, a.y * exp(a.x - m) + b.y * exp(b.x - m));
}

#if STAGE != 0
// Maximum and logarithm of the sum of a row whose parts begin at `at`. Needs `partials`.
vec2 whole_row(const uint at, const uint slices) {
  vec2 all = partials[at];
  for (uint s = 1u; s < slices; ++s) all = join(all, partials[at + s]);
  return vec2(all.x, log(max(all.y, 1e-30)));
}

// Log-probabilities of vec4 i of such a row; entries past its columns are zero.
vec4 log_probabilities(const vec4 v, const vec2 row, const uint i, const uint columns) {
  vec4 y = mix(v - row.x - row.y, vec4(MASKED), lessThanEqual(v, vec4(FORBIDDEN)));
  return mix(vec4(0.0), y, lessThan(uvec4(4u * i) + uvec4(0, 1, 2, 3), uvec4(columns)));
}
#endif
