// Adds one to y[0] by one invocation, `rounds` times: work that takes a while, and counts how often it ran.
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Y { uint y[]; };
layout(push_constant) uniform P { uint rounds; };
void main() {
  uint v = y[0];
  for (uint i = 0; i < rounds; ++i) v = v * 1664525u + 1013904223u;
  y[1] = v;
  y[0] += 1;
}
