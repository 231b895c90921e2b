#version 450
// Converts stored values to 32-bit floats; each workgroup converts EACH * LOCAL neighbours.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "stored.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(constant_id = 1) const uint EACH = 8;    // elements per invocation
layout(constant_id = 2) const uint FORMAT = 0;  // StoredFormat
layout(std430, set = 0, binding = 0) readonly buffer Raw { uint raw[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Y { uint y[]; };  // float bits
layout(push_constant) uniform P {
  uint groups;
  uint elements;
  uint raw_begin, y_begin;  // elements
} p;

void main() {
  uint g = group_index();
  if (g >= p.groups) return;
  uint i = g * LOCAL * EACH + gl_LocalInvocationIndex;
  for (uint n = 0u; n < EACH && i < p.elements; ++n, i += LOCAL) {
    uint at = p.raw_begin + i;
    y[p.y_begin + i] = stored_bits(FORMAT, raw[stored_word(FORMAT, at)], at);
  }
}
