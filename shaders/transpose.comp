#version 450
// y[c, r] = x[r, c] for a part; square tiles go through shared memory, so that both sides are accessed by rows.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;  // a multiple of TILE
layout(std430, set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Y { uint y[]; };
layout(push_constant) uniform P {
  uint groups;
  uint tiles;             // along the columns of x
  uint rows, cols;        // size of the part of x
  uint y_cols;            // columns of y to write: zeros past the rows of x
  uint x_ld, y_ld;
  uint x_begin, y_begin;  // words
} p;
const uint TILE = 32u, PITCH = TILE + 1u;  // the odd pitch spreads columns over the banks
shared uint tile[TILE * PITCH];

void main() {
  uint g = group_index();
  if (g >= p.groups) return;
  uint r0 = g / p.tiles * TILE, c0 = g % p.tiles * TILE;
  uint along = gl_LocalInvocationIndex % TILE;
  for (uint i = gl_LocalInvocationIndex / TILE; i < TILE; i += LOCAL / TILE) {
    uint r = r0 + i, c = c0 + along;
    tile[i * PITCH + along] = r < p.rows && c < p.cols ? x[p.x_begin + r * p.x_ld + c] : 0u;
  }
  barrier();
  for (uint i = gl_LocalInvocationIndex / TILE; i < TILE; i += LOCAL / TILE) {
    uint c = c0 + i, r = r0 + along;
    if (c < p.cols && r < p.y_cols) y[p.y_begin + c * p.y_ld + r] = tile[along * PITCH + i];
  }
}
