#version 450
// y[i] = x[i] + x[i + 1 mod n], in place of nothing: enough to see whether a driver computes, and to race with itself.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint count; };
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < count) y[i] = x[i] + x[(i + 1) % count];
}
