#version 450
// Matrix product with an fp16 weight by cooperative matrices: a workgroup of four subgroups computes either 64 rows by
// 64 columns, each subgroup 32 by 32, or 32 rows by 32 columns, where each subgroup sums a quarter of the depth; both
// proceed a slice of the depth at a time. Sums are fp32.
// x stays fp32: each row is scaled by a power of two so that no element overflows fp16, and each element is split into
// two halves, high and low, both of which are multiplied. The error is at most 2^-20 of an element, or 2^-38 of the
// row's largest.
// Debian 12's glslang does not know the extension: the compiled form lies in prebuilt/ (scripts/prebuild-shaders).
#extension GL_GOOGLE_include_directive : enable
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : enable
#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_memory_scope_semantics : enable
#extension GL_KHR_cooperative_matrix : enable
#if defined(STEP) || defined(SPANS)
#define KV_FORMAT_ID 8
#endif
#include "common.glsl"
#include "matmul.glsl"

// The shape of the device's matrices: rows and columns of a sum, and depth; 8 or 16 each.
layout(constant_id = 5) const uint M = 16;
layout(constant_id = 6) const uint N = 16;
layout(constant_id = 7) const uint K = 16;

// ROWS:VALUE in table.inc: 32 or 64. Expressions derived from it are folded to plain numbers too
// (src/ops/core/shader_code.cpp).
layout(constant_id = 31) const uint ROWS = 64;
const bool SMALL = ROWS == 32u;              // for grids that do not fill a device
const uint COLUMNS = ROWS;                   // rows and columns per workgroup
const uint OWN = 32u;                        // rows and columns per subgroup
const uint MOST = OWN / 8u;                  // maximum number of matrices along either
const uint GROUPS = COLUMNS / 4u;            // column groups per workgroup
const uint OWN_GROUPS = OWN / 4u;            // column groups per subgroup
const uint PARTS = SMALL ? 4u : 1u;          // subgroups that share the depth
const uint OWN_DEPTH = 32u;                  // depth of a slice per subgroup
const uint DEPTH = OWN_DEPTH * PARTS, DEPTH4 = DEPTH / 4u;
const uint PAIRS = DEPTH / 2u;               // halves are stored in pairs: two depths of a row or a column
const uint STRIDE = PAIRS + 4u;              // 16 bytes of padding, the alignment of matrices: puts adjacent rows in
                                             // different banks
const uint SUM_ROWS = 16u;                   // rows of a sum with the largest M
shared f16vec2 x_high[ROWS * STRIDE], x_low[ROWS * STRIDE];
shared f16vec2 w_tile[COLUMNS * STRIDE];
const uint SUMS = SMALL ? 2u : 4u;           // subgroups whose sums are in shared memory at a time
shared float sums[SUMS * SUM_ROWS * OWN];
shared uint row_top[ROWS];  // bits of the largest magnitude in a row

#define X_MATRIX coopmat<float16_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA>
#define W_MATRIX coopmat<float16_t, gl_ScopeSubgroup, K, N, gl_MatrixUseB>
#define SUM_MATRIX coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>

// The power of two that scales a row's elements below 2^15, as a float's exponent; both it and its inverse are normal
// numbers.
uint scale_exponent(const uint top) { return uint(clamp(268 - int(top >> 23), 13, 253)); }
float power_of_two(const uint exponent) { return uintBitsToFloat(exponent << 23); }

uint row_of_slice(const uint row) { return p.x_begin + min(row, p.rows - 1u) * p.x_ld4; }

// Eight adjacent invocations per row, each with this many loads in flight per row: everything after waits for all of
// them.
const uint TOP_ROWS = SMALL ? 2u : 4u, TOP_LOADS = 4u;
void find_row_tops(const uint l, const uint row) {
  for (uint r = l; r < ROWS; r += LOCAL) row_top[r] = 0u;
  barrier();
  [[dont_unroll]] for (uint first = l / 8u; first < ROWS; first += TOP_ROWS * LOCAL / 8u) {
    vec4 top[TOP_ROWS];
    [[unroll]] for (uint i = 0u; i < TOP_ROWS; ++i) top[i] = vec4(0.0);
    [[dont_unroll]] for (uint k = l % 8u; k < p.k4; k += 8u * TOP_LOADS)
      [[unroll]] for (uint i = 0u; i < TOP_ROWS; ++i)
        [[unroll]] for (uint n = 0u; n < TOP_LOADS; ++n)
          top[i] = max(top[i], abs(x[row_of_slice(row + first + i * LOCAL / 8u) + min(k + 8u * n, p.k4 - 1u)]));
    [[unroll]] for (uint i = 0u; i < TOP_ROWS; ++i) {
      uint r = first + i * LOCAL / 8u;
      if (r < ROWS) atomicMax(row_top[r], floatBitsToUint(max(max(top[i].x, top[i].y), max(top[i].z, top[i].w))));
    }
  }
  barrier();
}

// Loads of an invocation from a slice at a time: its whole share where a workgroup has 128 invocations.
const uint X_LOADS = SMALL ? 8u : 4u, W_LOADS = SMALL ? 4u : 2u;
struct Loads {
  vec4 x[8];
  uvec4 w[4];
};
uint turns() { return max(1u, ROWS * DEPTH4 / X_LOADS / LOCAL); }

// Loads from vec4 k of the depth on. Past the end the last elements are loaded again: a branch would make the loads
// wait.
Loads load_slice(const uint l, const uint turn, const uint k, const uint row, const uint first) {
  Loads loads;
  [[unroll]] for (uint i = 0u; i < X_LOADS; ++i) {
    uint t = l + (turn * X_LOADS + i) * LOCAL;
    loads.x[i] = x[row_of_slice(row + t / DEPTH4 % ROWS) + min(k + t % DEPTH4, p.k4 - 1u)];
  }
  [[unroll]] for (uint i = 0u; i < W_LOADS; ++i) {
    uint t = l + (turn * W_LOADS + i) * LOCAL;
    uint group = t / (PANEL4 * PAIRS) * PANEL4 + t % PANEL4, pair = t / PANEL4 % PAIRS;
    uint begin = p.w_begin + packed_element4(min(first + group, p.c_end - 1u), 0u, p.panel4);
    loads.w[i] = w[begin + min(2u * k + pair, 2u * p.k4 - 1u) * PANEL4];
  }
  return loads;
}

// A word of W is already a pair. Within a subgroup's columns, the first columns of all column groups come first, then
// the second ones, and so on: adjacent lanes write to different banks, and a column group stays within its subgroup.
uint place_of_column(const uint group, const uint column) {
  return group / OWN_GROUPS * OWN + column * OWN_GROUPS + group % OWN_GROUPS;
}

// x is zero past the end, whatever W holds there.
void store_slice(const uint l, const uint turn, const uint k, const Loads loads) {
  [[unroll]] for (uint i = 0u; i < X_LOADS; ++i) {
    uint t = l + (turn * X_LOADS + i) * LOCAL, r = t / DEPTH4, d = t % DEPTH4, at = r * STRIDE + 2u * d;
    if (r >= ROWS) break;  // there are more invocations than loads
    vec4 v = k + d < p.k4 ? loads.x[i] * power_of_two(scale_exponent(row_top[r])) : vec4(0.0);
    // lavapipe folds a float-half-float round trip away; truncating by bits survives.
    vec4 cut = uintBitsToFloat(floatBitsToUint(v) & uvec4(0xffffe000u));
    f16vec4 high = f16vec4(cut), low = f16vec4(v - cut);
    x_high[at] = high.xy;
    x_high[at + 1u] = high.zw;
    x_low[at] = low.xy;
    x_low[at + 1u] = low.zw;
  }
  [[unroll]] for (uint i = 0u; i < W_LOADS; ++i) {
    uint t = l + (turn * W_LOADS + i) * LOCAL;
    uint group = t / (PANEL4 * PAIRS) * PANEL4 + t % PANEL4, pair = t / PANEL4 % PAIRS;
    if (group >= GROUPS) break;
    [[unroll]] for (uint j = 0u; j < 4u; ++j)
      w_tile[place_of_column(group, j) * STRIDE + pair] = unpackFloat2x16(loads.w[i][j]);
  }
}

void store_sums(const SUM_MATRIX sum[MOST * MOST], const uint at) {
  [[unroll]] for (uint j = 0u; j < OWN / N; ++j)
    coopMatStore(sum[j], sums, at + j * N, OWN, gl_CooperativeMatrixLayoutRowMajor);
}

// The first two subgroups add the parts of the last two.
void take_parts(inout SUM_MATRIX sum[MOST * MOST], const uint at) {
  if (gl_SubgroupID >= 2u) store_sums(sum, at);
  barrier();
  if (gl_SubgroupID < 2u) {
    [[unroll]] for (uint j = 0u; j < OWN / N; ++j) {
      SUM_MATRIX part;
      coopMatLoad(part, sums, at + j * N, OWN, gl_CooperativeMatrixLayoutRowMajor);
      sum[j] += part;
    }
  }
  barrier();
}

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint tile, block;
  place(group, tile, block);
  uint l = gl_LocalInvocationIndex, row = tile * ROWS, first = p.c_begin + block * GROUPS;
  // This subgroup's rows, columns and depths of the tile.
  uint own_row = SMALL ? 0u : gl_SubgroupID / 2u * OWN, own_column = SMALL ? 0u : gl_SubgroupID % 2u * OWN;
  uint own_depth = SMALL ? gl_SubgroupID * OWN_DEPTH : 0u;
  // The next slice is loaded into registers while the current one is multiplied.
  const bool AHEAD = turns() == 1u;
  Loads loads;
  if (AHEAD) loads = load_slice(l, 0u, 0u, row, first);
  find_row_tops(l, row);
  SUM_MATRIX sum[MOST * MOST];
  [[unroll]] for (uint i = 0u; i < OWN / M; ++i)
    [[unroll]] for (uint j = 0u; j < OWN / N; ++j) sum[i * MOST + j] = SUM_MATRIX(0.0);
  [[dont_unroll]] for (uint k = 0u; k < p.k4; k += DEPTH4) {
    if (AHEAD)
      store_slice(l, 0u, k, loads);
    else
      [[dont_unroll]] for (uint turn = 0u; turn < turns(); ++turn)
        store_slice(l, turn, k, load_slice(l, turn, k, row, first));
    barrier();
    if (AHEAD) loads = load_slice(l, 0u, k + DEPTH4, row, first);
    [[dont_unroll]] for (uint d = own_depth; d < own_depth + OWN_DEPTH; d += K) {
      W_MATRIX columns[MOST];
      [[unroll]] for (uint j = 0u; j < OWN / N; ++j)
        coopMatLoad(columns[j], w_tile, (own_column + j * N) * STRIDE + d / 2u, STRIDE,
                    gl_CooperativeMatrixLayoutColumnMajor);
      [[unroll]] for (uint i = 0u; i < OWN / M; ++i) {
        X_MATRIX high, low;
        uint at = (own_row + i * M) * STRIDE + d / 2u;
        coopMatLoad(high, x_high, at, STRIDE, gl_CooperativeMatrixLayoutRowMajor);
        coopMatLoad(low, x_low, at, STRIDE, gl_CooperativeMatrixLayoutRowMajor);
        [[unroll]] for (uint j = 0u; j < OWN / N; ++j) {
          sum[i * MOST + j] = coopMatMulAdd(low, columns[j], sum[i * MOST + j]);
          sum[i * MOST + j] = coopMatMulAdd(high, columns[j], sum[i * MOST + j]);
        }
      }
    }
    barrier();  // others may still be reading the slice
  }
  // Goes through shared memory one row of matrices at a time, since the driver decides which elements of a matrix an
  // invocation holds. Each subgroup finishes its own sums, or (SMALL) all of them finish the one sum of all parts.
  uint lane = SMALL ? l : gl_SubgroupInvocationID, lanes = SMALL ? LOCAL : gl_SubgroupSize;
  uint own_sums = gl_SubgroupID % SUMS * SUM_ROWS * OWN, from = SMALL ? 0u : own_sums;
  uint c = first + own_column / 4u + lane % OWN_GROUPS;
  Columns columns = columns_of(min(c, p.c_end - 1u));
  [[dont_unroll]] for (uint i = 0u; i < OWN / M; ++i) {
    if (SMALL) take_parts(sum, own_sums);
    if (gl_SubgroupID < SUMS) store_sums(sum, own_sums);
    barrier();
    [[dont_unroll]] for (uint r = lane / OWN_GROUPS; r < M && c < p.c_end; r += lanes / OWN_GROUPS) {
      uint own = own_row + i * M + r;
      vec4 v = vec4(0.0);
      [[unroll]] for (uint n = 0u; n < SUMS / (4u / PARTS); ++n) {
        uint at = from + n * SUM_ROWS * OWN + r * OWN + lane % OWN_GROUPS;
        v += vec4(sums[at], sums[at + OWN_GROUPS], sums[at + 2u * OWN_GROUPS], sums[at + 3u * OWN_GROUPS]);
      }
      finish(row + own, columns, v * power_of_two(254u - scale_exponent(row_top[own])));
    }
    barrier();
    [[unroll]] for (uint n = 0u; n + 1u < OWN / M; ++n)
      [[unroll]] for (uint j = 0u; j < OWN / N; ++j) sum[n * MOST + j] = sum[(n + 1u) * MOST + j];
  }
}
