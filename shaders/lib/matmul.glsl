// Bindings, parameters and epilogue of the matrix products; the kernels differ in how they sum.
// FORM 0: x, W, y, bias.  FORM 1: x, W with its bias, q, kv.  FORM 2: x, W, kv, bias.  STEP: rows are those of a step.
// W and bias: panels of 32 columns, see lapilli::packed.
#ifdef STEP
#define USE_STEP
#include "state.glsl"
#endif
#include "activation.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(constant_id = 1) const uint ACTIVATION = 0;
layout(constant_id = 2) const uint ADD = 0;            // what is there is added: 1 before, 2 behind the activation
layout(constant_id = 3) const uint BIAS = 1;           // 0: no bias (all but the last slice of a deep product)

layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) readonly buffer W { vec4 w[]; };
#if FORM == 0
layout(std430, set = 0, binding = 2) buffer Y { vec4 y[]; };
layout(std430, set = 0, binding = 3) readonly buffer B { vec4 b[]; };
#elif FORM == 1
layout(std430, set = 0, binding = 2) buffer Y { vec4 y[]; };
layout(std430, set = 0, binding = 3) buffer KV { float kv[]; };
#else
layout(std430, set = 0, binding = 2) buffer KV { float kv[]; };
layout(std430, set = 0, binding = 3) readonly buffer B { vec4 b[]; };
#endif

layout(push_constant) uniform P {
  uint groups;
  uint rows, tiles, blocks;  // rows of the slice; workgroups along rows and along columns
  uint c_begin, c_end;       // column groups (four columns) of the slice
  uint k4;                   // vec4 along K in the slice
  uint x_begin, x_ld4;       // vec4
  uint w_begin, panel4;      // vec4: where panel 0 would begin (may wrap); from panel to panel
  uint bias_begin;           // vec4: where the bias of column 0 would be
  uint y_begin, y_ld4;       // vec4: where row 0 of the slice begins
  uint y_cols;               // columns of y (or q); what is beyond them in its last vec4 is zero
  uint columns_outer;        // 1: row tiles run fastest, so that a panel stays in the cache
#if FORM != 0
  uint q_columns, head_dim, slots, positions;
  uint kv_first, kv_last;       // columns behind q_columns that go to the bound part of kv
  uint slot_begin, slot_end;    // slots in the bound part
  uint kv_begin;                // word of kv at which the bound part begins
  uint row_begin, rows_per_slot;
#endif
} p;

// Tile of rows and block of columns of this workgroup.
void place(uint group, out uint tile, out uint block) {
  if (p.columns_outer != 0u) {
    block = group / p.tiles;
    tile = group - block * p.tiles;
  } else {
    tile = group / p.blocks;
    block = group - tile * p.blocks;
  }
}

vec4 bias_of(uint c) {
#if FORM == 1
  return w[p.bias_begin + c];
#else
  return b[p.bias_begin + c];
#endif
}

#if FORM != 0
void store_kv(uint row, uint c, vec4 v) {
  uint r = p.row_begin + row;
#ifdef STEP
  if (r >= step_word(STEP_LIVE)) return;
  uint slot = step_word(STEP_ROW_SLOT + r), position = step_word(STEP_STEP);
#else
  uint slot = r / p.rows_per_slot, position = r - slot * p.rows_per_slot;
#endif
  if (slot < p.slot_begin || slot >= p.slot_end) return;
  uint width = 2u * p.head_dim, head_stride = p.slots * p.positions * width;
  uint base = (slot * p.positions + position) * width - p.kv_begin;
  for (uint i = 0u; i < 4u; ++i) {
    uint j = 4u * c + i;
    if (j < p.q_columns) continue;
    j -= p.q_columns;
    if (j < p.kv_first || j >= p.kv_last) continue;
    uint head = j / width, at = base + head * head_stride + (j - head * width);
    if (ADD != 0) kv[at] += v[i];
    else kv[at] = v[i];
  }
}
#endif

// Row `row` of the slice, column group c: the sum gets its bias and so on, and is stored.
void finish(uint row, uint c, vec4 sum) {
  if (row >= p.rows) return;
  if (BIAS != 0) sum += bias_of(c);
#if FORM != 2
  if (4u * c < p.y_cols) {
    uint at = p.y_begin + row * p.y_ld4 + c;
    vec4 v = sum;
    if (ADD == 1) v += y[at];
    v = activate(v, ACTIVATION);
    if (ADD == 2) v += y[at];
    if (4u * c + 4u > p.y_cols)
      v = mix(vec4(0.0), v, lessThan(uvec4(4u * c) + uvec4(0, 1, 2, 3), uvec4(p.y_cols)));
    y[at] = v;
  }
#endif
#if FORM == 1
  if (4u * c + 4u > p.q_columns) store_kv(row, c, sum);
#elif FORM == 2
  store_kv(row, c, activate(sum, ACTIVATION));
#endif
}
