#version 450
// Power spectrum (discrete Fourier transform) of windowed, overlapping frames; one workgroup per frame. N = A * B
// samples are transformed in two stages: B transforms of A samples each, twiddled, then A of B each. Short sums keep
// rounding errors of floats small.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) readonly buffer T { float t[]; };  // window, cosines, sines: N each
layout(std430, set = 0, binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform P {
  uint groups;
  uint hop, bins;
  uint a, b;               // N = a * b
  uint ld;                 // row stride of y in words
  uint x_begin, y_begin;   // words
} p;
const uint MOST = 1024u;
shared float windowed[MOST];
shared vec2 part[MOST];

// The twiddle factor exp(-2 pi i j / N), j < N.
vec2 turn(const uint j, const uint n) { return vec2(t[n + j], -t[2u * n + j]); }
vec2 times(const vec2 u, const vec2 v) { return vec2(u.x * v.x - u.y * v.y, u.x * v.y + u.y * v.x); }

// Bin k of the transform of the samples j, j + b, j + 2b...
vec2 first_stage(const uint j, const uint k, const uint n) {
  vec2 sum = vec2(0.0);
  for (uint i = 0u, angle = 0u; i < p.a; ++i) {
    sum += windowed[i * p.b + j] * turn(angle, n);
    angle += k * p.b;
    if (angle >= n) angle -= n;
  }
  return sum;
}

vec2 second_stage(const uint k, const uint n) {
  vec2 sum = vec2(0.0);
  uint step = k / p.a * p.a;
  for (uint j = 0u, angle = 0u; j < p.b; ++j) {
    sum += times(part[j * p.a + k % p.a], turn(angle, n));
    angle += step;
    if (angle >= n) angle -= n;
  }
  return sum;
}

void main() {
  uint row = group_index();
  if (row >= p.groups) return;
  uint l = gl_LocalInvocationIndex, n = p.a * p.b, half_a = p.a / 2u + 1u;
  for (uint i = l; i < n; i += LOCAL) windowed[i] = x[p.x_begin + row * p.hop + i] * t[i];
  barrier();
  // Samples are real, so the upper half of the bins mirrors the lower half.
  for (uint i = l; i < half_a * p.b; i += LOCAL) {
    uint j = i / half_a, k = i % half_a, mirrored = k == 0u ? 0u : p.a - k;
    vec2 bin = first_stage(j, k, n);
    part[j * p.a + k] = times(bin, turn(j * k, n));
    if (mirrored > k) part[j * p.a + mirrored] = times(vec2(bin.x, -bin.y), turn(j * mirrored, n));
  }
  barrier();
  for (uint k = l; k < p.ld; k += LOCAL) {
    vec2 bin = k < p.bins ? second_stage(k, n) : vec2(0.0);
    y[p.y_begin + row * p.ld + k] = dot(bin, bin);
  }
}
