// y[i] = x[i] * scale + offset + push, with every kind of input that the kernels use: storage, uniform, push and
// specialization constants.
#version 450
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint scale = 1;
layout(constant_id = 1) const uint bias = 0;
layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) buffer Y { uint y[]; };
layout(set = 0, binding = 4) uniform U { uint offset; };
layout(push_constant) uniform P { uint push, n; };
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < n) y[i] = x[i] * scale + bias + offset + push;
}
