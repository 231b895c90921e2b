#version 450
// Matrix product of a weight in fp16 with cooperative matrices: a workgroup of four subgroups computes 64 rows by 64
// columns, each subgroup 32 by 32, a slice of the depth at a time. Sums are fp32.
// x stays fp32: a row is scaled by a power of two so that no element leaves fp16, and each element is the sum of two
// halves, high and low, both of which are multiplied. What is lost is at most 2^-20 of an element, or 2^-38 of the row's
// largest.
// Debian 12's glslang does not know the extension: what it compiles to lies in prebuilt/ (scripts/prebuild-shaders).
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

// The shape of the device's matrices: rows and columns of a sum, and their depth; 8 or 16 each.
layout(constant_id = 5) const uint M = 16;
layout(constant_id = 6) const uint N = 16;
layout(constant_id = 7) const uint K = 16;

const uint ROWS = 64u, COLUMNS = 64u;        // of a workgroup
const uint OWN = 32u;                        // rows and columns of a subgroup
const uint MOST = OWN / 8u;                  // matrices along either of them, at most
const uint GROUPS = COLUMNS / 4u;            // column groups of a workgroup
const uint OWN_GROUPS = OWN / 4u;            // and of a subgroup
const uint DEPTH = 32u;                      // of a slice
const uint PAIRS = DEPTH / 2u;               // halves lie in pairs, two depths of a row or a column
const uint STRIDE = PAIRS + 4u;              // 16 bytes more, as matrices are aligned: other banks for rows side by side
const uint SUM_ROWS = 16u;                   // of the largest M
shared f16vec2 x_high[ROWS * STRIDE], x_low[ROWS * STRIDE];
shared f16vec2 w_tile[COLUMNS * STRIDE];
shared float sums[4u * SUM_ROWS * OWN];
shared uint row_top[ROWS];  // bits of the largest magnitude of a row

#define X_MATRIX coopmat<float16_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA>
#define W_MATRIX coopmat<float16_t, gl_ScopeSubgroup, K, N, gl_MatrixUseB>
#define SUM_MATRIX coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>

// The power of two with which a row's elements come to less than 2^15, as the exponent of a float: a normal number, as
// is the one with which they are themselves again.
uint scale_exponent(const uint top) { return uint(clamp(268 - int(top >> 23), 13, 253)); }
float power_of_two(const uint exponent) { return uintBitsToFloat(exponent << 23); }

uint row_of_slice(const uint row) { return p.x_begin + min(row, p.rows - 1u) * p.x_ld4; }

// Eight invocations a row, side by side.
void find_row_tops(const uint l, const uint row) {
  for (uint r = l; r < ROWS; r += LOCAL) row_top[r] = 0u;
  barrier();
  [[dont_unroll]] for (uint r = l / 8u; r < ROWS; r += LOCAL / 8u) {
    uint from = row_of_slice(row + r);
    vec4 top = vec4(0.0);
    [[dont_unroll]] for (uint k = l % 8u; k < p.k4; k += 8u) top = max(top, abs(x[from + k]));
    atomicMax(row_top[r], floatBitsToUint(max(max(top.x, top.y), max(top.z, top.w))));
  }
  barrier();
}

// vec4 k and what follows of the depth; x beyond the end is zero, whatever W is there.
void store_x(const uint l, const uint k, const uint row) {
  [[unroll]] for (uint t = l; t < ROWS * DEPTH / 4u; t += LOCAL) {
    uint r = t / (DEPTH / 4u), d = t % (DEPTH / 4u), at = r * STRIDE + 2u * d;
    vec4 v = k + d < p.k4 ? x[row_of_slice(row + r) + k + d] * power_of_two(scale_exponent(row_top[r])) : vec4(0.0);
    // lavapipe takes a float that was made a half, and a float again, for the same one: cut off by its bits it is not.
    vec4 cut = uintBitsToFloat(floatBitsToUint(v) & uvec4(0xffffe000u));
    f16vec4 high = f16vec4(cut), low = f16vec4(v - cut);
    x_high[at] = high.xy;
    x_high[at + 1u] = high.zw;
    x_low[at] = low.xy;
    x_low[at + 1u] = low.zw;
  }
}

// A word of W is a pair as it is. Within the columns of a subgroup the first ones of all column groups come first, then
// the second ones: so lanes side by side write to other banks, and a column group is still within the subgroup.
uint place_of_column(const uint group, const uint column) {
  return group / OWN_GROUPS * OWN + column * OWN_GROUPS + group % OWN_GROUPS;
}
void store_w(const uint l, const uint k, const uint first) {
  [[unroll]] for (uint t = l; t < GROUPS * PAIRS; t += LOCAL) {
    uint panel = t / (PANEL4 * PAIRS), group = panel * PANEL4 + t % PANEL4, pair = t / PANEL4 % PAIRS;
    uint begin = p.w_begin + packed_element4(min(first + group, p.c_end - 1u), 0u, p.panel4);
    uvec4 words = w[begin + min(2u * k + pair, 2u * p.k4 - 1u) * PANEL4];
    [[unroll]] for (uint j = 0u; j < 4u; ++j)
      w_tile[place_of_column(group, j) * STRIDE + pair] = unpackFloat2x16(words[j]);
  }
}

void main() {
  uint group = group_index();
  if (group >= p.groups) return;
  uint tile, block;
  place(group, tile, block);
  uint l = gl_LocalInvocationIndex, row = tile * ROWS, first = p.c_begin + block * GROUPS;
  uint own_row = gl_SubgroupID / 2u * OWN, own_column = gl_SubgroupID % 2u * OWN;
  find_row_tops(l, row);
  SUM_MATRIX sum[MOST * MOST];
  [[unroll]] for (uint i = 0u; i < OWN / M; ++i)
    [[unroll]] for (uint j = 0u; j < OWN / N; ++j) sum[i * MOST + j] = SUM_MATRIX(0.0);
  [[dont_unroll]] for (uint k = 0u; k < p.k4; k += DEPTH / 4u) {
    store_x(l, k, row);
    store_w(l, k, first);
    barrier();
    [[dont_unroll]] for (uint d = 0u; d < DEPTH; d += K) {
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
    barrier();  // others may still read the slice
  }
  // A matrix of rows at a time, in shared memory: what of a matrix an invocation holds is the driver's affair.
  uint lane = gl_SubgroupInvocationID, own_sums = gl_SubgroupID * SUM_ROWS * OWN;
  uint c = first + gl_SubgroupID % 2u * OWN_GROUPS + lane % OWN_GROUPS;
  Columns columns = columns_of(min(c, p.c_end - 1u));
  [[dont_unroll]] for (uint i = 0u; i < OWN / M; ++i) {
    [[unroll]] for (uint j = 0u; j < OWN / N; ++j)
      coopMatStore(sum[j], sums, own_sums + j * N, OWN, gl_CooperativeMatrixLayoutRowMajor);
    barrier();
    [[dont_unroll]] for (uint r = lane / OWN_GROUPS; r < M && c < p.c_end; r += gl_SubgroupSize / OWN_GROUPS) {
      uint at = own_sums + r * OWN + lane % OWN_GROUPS, own = own_row + i * M + r;
      vec4 v = vec4(sums[at], sums[at + OWN_GROUPS], sums[at + 2u * OWN_GROUPS], sums[at + 3u * OWN_GROUPS]);
      finish(row + own, columns, v * power_of_two(254u - scale_exponent(row_top[own])));
    }
    barrier();
    [[unroll]] for (uint n = 0u; n + 1u < OWN / M; ++n)
      [[unroll]] for (uint j = 0u; j < OWN / N; ++j) sum[n * MOST + j] = sum[(n + 1u) * MOST + j];
  }
}
