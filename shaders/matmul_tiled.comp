#version 450
// Matrix product with tiles in shared memory: a workgroup of 64 invocations computes 16 rows by 32 columns, or 32 or 64
// by 64, a slice of the depth at a time.
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
#include "matmul.glsl"

// ROWS:VALUE in table.inc: 16, 32 or 64. Expressions derived from it are folded to plain numbers too
// (src/ops/core/shader_code.cpp).
layout(constant_id = 31) const uint ROWS = 32;
const bool SMALL = ROWS == 16u;
const uint INVOCATIONS = 64u;
const uint GROUPS = SMALL ? 8u : 16u;     // column groups per tile
const uint OWN = SMALL ? 2u : 8u;         // rows per invocation
const uint WIDE = ROWS == 64u ? 2u : 1u;  // column groups per invocation
const uint LANES = GROUPS / WIDE, STEPS = ROWS / OWN;  // invocations along columns and along rows
const uint DEPTH4 = SMALL ? 8u : 4u;                   // vec4s of the depth in a slice
const uint TURN = SMALL ? 4u : 1u;  // vec4s of the depth unrolled together: more hide latency but take registers
// Small tiles are for grids that do not fill a device. There nothing else runs while a workgroup waits for memory, so
// the next slice is loaded into registers while the current one is added up. Larger tiles would lose occupancy to these
// registers.
const bool AHEAD = SMALL;
const uint STRIDE = DEPTH4 + 1u;  // odd, so that adjacent rows, which belong to different invocations, read different
                                  // banks
shared vec4 x_tile[ROWS * STRIDE];
shared vec4 w_tile[4u * DEPTH4 * GROUPS];

// Loads of an invocation from a slice: vec4s of x; words of W in its column group, and their scales. At most four of
// each.
const uint X_LOADS = ROWS * DEPTH4 / INVOCATIONS, PARTS = INVOCATIONS / GROUPS;
struct Loads {
  vec4 x[4];
  uvec4 w[4], scales;
};
uint w_loads() { return max(1u, 4u * DEPTH4 / PARTS / depths_a_word(W_FORMAT)); }

// Loads the slice from vec4 k of the depth on. Past the end the last elements are loaded again: a branch would make the
// loads wait.
Loads load_slice(const uint l, const uint k, const uint row, const uint w_begin) {
  Loads loads;
  [[unroll]] for (uint i = 0u; i < X_LOADS; ++i) {
    uint t = l + i * INVOCATIONS, r = min(row + t / DEPTH4, p.rows - 1u), d = min(k + t % DEPTH4, p.k4 - 1u);
    loads.x[i] = x[p.x_begin + r * p.x_ld4 + d];
  }
  [[unroll]] for (uint i = 0u; i < w_loads(); ++i) {
    uint depth = 4u * k + (l / GROUPS + i * PARTS) * depths_a_word(W_FORMAT);
    loads.w[i] = w[w_begin + depth_row(W_FORMAT, min(depth, 4u * p.k4 - 1u)) * PANEL4];
  }
  loads.scales = scales_at(w_begin, min(k, p.k4 - 1u));
  return loads;
}

// x is zero past the end, whatever W holds there.
void store_slice(const uint l, const uint k, const Loads loads) {
  [[unroll]] for (uint i = 0u; i < X_LOADS; ++i) {
    uint t = l + i * INVOCATIONS, r = t / DEPTH4, d = t % DEPTH4;
    x_tile[r * STRIDE + d] = k + d < p.k4 ? loads.x[i] : vec4(0.0);
  }
  [[unroll]] for (uint i = 0u; i < w_loads(); ++i) {
    uint d = (l / GROUPS + i * PARTS) * depths_a_word(W_FORMAT);
    if (d >= 4u * DEPTH4) break;  // with the longest words a slice has fewer than there are invocations
    [[unroll]] for (uint n = 0u; n < depths_a_word(W_FORMAT); ++n)
      w_tile[(d + n) * GROUPS + l % GROUPS] = weights_of(W_FORMAT, loads.w[i], loads.scales, n);
  }
}

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint tile, block;
  place(group, tile, block);
  uint l = gl_LocalInvocationIndex, tx = l % LANES, ty = l / LANES;
  uint row = tile * ROWS, first = p.c_begin + block * GROUPS;
  uint w_begin = p.w_begin + packed_element4(min(first + l % GROUPS, p.c_end - 1u), 0u, p.panel4);
  vec4 sum[OWN * WIDE];
  [[unroll]] for (uint i = 0u; i < OWN * WIDE; ++i) sum[i] = vec4(0.0);
  Loads loads;
  if (AHEAD) loads = load_slice(l, 0u, row, w_begin);
  [[dont_unroll]] for (uint k = 0u; k < p.k4; k += DEPTH4) {
    barrier();  // others may still be reading the previous slice
    if (!AHEAD) loads = load_slice(l, k, row, w_begin);
    store_slice(l, k, loads);
    barrier();
    if (AHEAD) loads = load_slice(l, k + DEPTH4, row, w_begin);
    [[dont_unroll]] for (uint turn = 0u; turn < DEPTH4; turn += TURN)
      [[unroll]] for (uint t = 0u; t < TURN; ++t) {
        uint d = turn + t;
        vec4 w[4u * WIDE];
        [[unroll]] for (uint n = 0u; n < 4u * WIDE; ++n)
          w[n] = w_tile[(4u * d + n % 4u) * GROUPS + n / 4u * LANES + tx];
        [[unroll]] for (uint i = 0u; i < OWN; ++i) {
          vec4 v = x_tile[(ty + i * STEPS) * STRIDE + d];
          [[unroll]] for (uint n = 0u; n < WIDE; ++n)
            sum[n * OWN + i] +=
                v.x * w[4u * n] + v.y * w[4u * n + 1u] + v.z * w[4u * n + 2u] + v.w * w[4u * n + 3u];
        }
      }
  }
  // One column group per turn, shifting the sums down: unrolled, activations would take too many instructions.
  [[dont_unroll]] for (uint n = 0u; n < WIDE; ++n) {
    uint c = first + tx + n * LANES;
    if (c >= p.c_end) return;
    Columns columns = columns_of(c);
    [[unroll]] for (uint i = 0u; i < OWN; ++i) finish(row + ty + i * STEPS, columns, sum[i]);
    [[unroll]] for (uint i = 0u; i < OWN; ++i) sum[i] = sum[(WIDE - 1u) * OWN + i];
  }
}
