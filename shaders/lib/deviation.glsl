// Vec4 i of a row of `cols` columns, minus the row's mean; columns past the end give zero.
vec4 deviation(const vec4 v, const float mean, const uint i, const uint cols) {
  return mix(vec4(0.0), v - mean, lessThan(uvec4(4u * i) + uvec4(0, 1, 2, 3), uvec4(cols)));
}
