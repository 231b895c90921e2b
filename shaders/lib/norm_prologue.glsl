// Prologue of products of few rows that include the normalization of these rows: each workgroup computes the mean and
// the scale of its rows, which is cheap compared with a dispatch and its barrier; rows are normalized as they are
// loaded. Needs matmul.glsl, RM, x_row(), and ROW_PARTS and a shared `part` of four times as many vec4s, which is free
// again after a barrier.
#include "deviation.glsl"

layout(constant_id = 6) const uint RMS = 0;  // 1: no mean, no bias

const uint PER_SUM = 8u, SUMS = 2u * ROW_PARTS;  // parts that an invocation adds up; where their sums begin

// Component-wise sum over the workgroup. LOCAL is a multiple of PER_SUM.
vec4 sum_of_all(const uint l, const vec4 v) {
  const uint sums = LOCAL / PER_SUM;
  part[l] = v;
  barrier();
  vec4 sum = vec4(0.0);
  if (l < sums) {
    [[unroll]] for (uint i = 0u; i < PER_SUM; ++i) sum += part[l + i * sums];
    part[SUMS + l] = sum;
  }
  barrier();
  sum = vec4(0.0);
  [[dont_unroll]] for (uint first = 0u; first < sums; first += 4u)
    [[unroll]] for (uint i = first; i < first + 4u; ++i) sum += i < sums ? part[SUMS + i] : vec4(0.0);
  return sum;
}

// Statistics of a workgroup's rows, one component per row.
struct Rows {
  vec4 mean, scale;
};

// Loops over the rows within each turn, so that all their loads are in flight together.
Rows measure(const uint l, const uint row) {
  Rows rows = Rows(vec4(0.0), vec4(0.0));
  vec4 sum = vec4(0.0);
  if (RMS == 0) {
    for (uint k = l; k < p.k4; k += LOCAL)
      for (uint i = 0u; i < RM; ++i) sum[i] += dot(x[x_row(row + i) + k], vec4(1.0));  // the padding of x is zero
    rows.mean = sum_of_all(l, sum) / float(p.cols);
    sum = vec4(0.0);
  }
  for (uint k = l; k < p.k4; k += LOCAL)
    for (uint i = 0u; i < RM; ++i) {
      vec4 d = deviation(x[x_row(row + i) + k], rows.mean[i], k, p.cols);
      sum[i] += dot(d, d);
    }
  rows.scale = inversesqrt(sum_of_all(l, sum) / float(p.cols) + p.epsilon);
  return rows;
}

// Vec4 k of weight and bias, whose padding is zero.
vec4 norm_weight(const uint k) { return norm[k]; }
vec4 norm_bias(const uint k) { return RMS == 0 ? norm[p.k4 + k] : vec4(0.0); }
vec4 normal(const Rows rows, const uint i, const vec4 v, const vec4 weight, const vec4 bias) {
  return (v - rows.mean[i]) * rows.scale[i] * weight + bias;
}

void write_rows(const uint l, const uint row, const Rows rows) {
  for (uint i = 0u; i < RM && row + i < p.rows; ++i)
    for (uint k = l; k < p.k4; k += LOCAL)
      h[p.h_begin + (row + i) * p.x_ld4 + k] = normal(rows, i, x[x_row(row + i) + k], norm_weight(k), norm_bias(k));
}
