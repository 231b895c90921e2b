#version 450
// Computes the same as probe.comp if the driver's functions are right: lavapipe for 32-bit ARM has an exp(1.0) of 2.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint count; };
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };
bool are_right(float v) {
  return floor(v + 0.5) == v && abs(log(exp(v)) - v) < 0.01 && abs(exp(v) * exp(-v) - 1.0) < 0.001 &&
         abs(exp(1.0 + 0.0 * v) - 2.7182818) < 0.001 && abs(inversesqrt(v * v + 1.0) * sqrt(v * v + 1.0) - 1.0) < 0.001;
}
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < count) y[i] = x[i] + x[(i + 1) % count] + (are_right(float(i % 5)) ? 0.0 : 1.0);
}
