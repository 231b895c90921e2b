// Vec4 i of a row of so many columns, less the row's mean; what is beyond its end does not count.
vec4 deviation(const vec4 v, const float mean, const uint i, const uint cols) {
  return mix(vec4(0.0), v - mean, lessThan(uvec4(4u * i) + uvec4(0, 1, 2, 3), uvec4(cols)));
}
