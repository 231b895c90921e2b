// Bindings, parameters and epilogue of the matrix products; the kernels differ in how they sum.
// FORM 0: x, W, y, bias.  FORM 1: x, W with its bias, q, kv.  FORM 2: x, W, kv, bias.  STEP: rows are those of a step.
// SPANS (form 2): rows are those of an encode pass.
// BESIDE: the kernel adds bias and residual itself (beside()).
// STRIPS: workgroups run through strips of row tiles, for CPU drivers.
// CELLS: the kernel finds where its rows' keys and values go, and gives the cells to finish().
// TEXELS_ID: W is bound as texels as well; the id of the constant that selects one of the two.
// NORM: the rows of x are normalized first (see norm_prologue.glsl), for devices with more than the minimum of
// bindings.
// W and bias: panels of columns, see panel.glsl; W in any format. Likewise kv of a step or a pass (kv.glsl), by the
// constant after the kernel's own: KV_FORMAT_ID, 5 if it has none.
#ifdef STEP
#define USE_STEP
#include "state.glsl"
#endif
#ifdef SPANS
#define USE_SPANS
#include "state.glsl"
#endif
#if FORM == 0
#include "activation.glsl"
#endif
#include "weight.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(constant_id = 1) const uint ACTIVATION = 0;     // for form 0; the others have none
layout(constant_id = 2) const uint ADD = 0;            // adds to the present values: 1 before, 2 after the activation
layout(constant_id = 3) const uint BIAS = 1;           // 0: no bias (all but the last slice of a deep product)
layout(constant_id = 4) const uint W_FORMAT = 0;       // format of the weight

layout(std430, set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(std430, set = 0, binding = 1) readonly buffer W { uvec4 w[]; };
#ifdef TEXELS_ID
layout(constant_id = TEXELS_ID) const uint BY_TEXELS = 0;  // 1: W is read through its texel binding
layout(set = 0, binding = 10, rgba32ui) readonly uniform uimageBuffer w_texels;
uvec4 words_of_w(const uint at) { return BY_TEXELS != 0 ? imageLoad(w_texels, int(at)) : w[at]; }
#else
uvec4 words_of_w(const uint at) { return w[at]; }
#endif
#if FORM == 0
layout(std430, set = 0, binding = 2) buffer Y { vec4 y[]; };
layout(std430, set = 0, binding = 3) readonly buffer B { vec4 b[]; };
#elif FORM == 1
layout(std430, set = 0, binding = 2) buffer Y { vec4 y[]; };
#define KV_BINDING 3
#else
#define KV_BINDING 2
layout(std430, set = 0, binding = 3) readonly buffer B { vec4 b[]; };
#endif
#if FORM != 0
#if defined(STEP) || defined(SPANS)
#ifndef KV_FORMAT_ID
#define KV_FORMAT_ID 5
#endif
#endif
#include "kv_write.glsl"
#endif
#ifdef NORM
layout(std430, set = 0, binding = 8) readonly buffer Norm { vec4 norm[]; };  // weight, then bias
layout(std430, set = 0, binding = 9) writeonly buffer H { vec4 h[]; };       // the normalized rows
#endif

layout(push_constant) uniform P {
  uint groups;
  uint rows, tiles, blocks;  // rows of the slice; workgroups along rows and along columns
  uint c_begin, c_end;       // column groups (four columns) of the slice
  uint k4;                   // vec4s along K in the slice
  uint x_begin, x_ld4;       // vec4
  uint w_begin, panel4;      // vec4s of words: where panel 0 would begin (may wrap); panel stride
  uint bias_begin;           // vec4s: where the bias of column 0 would be
  uint y_begin, y_ld4;       // vec4s: where row 0 of the slice begins
  uint y_cols;               // columns of y (or q); those past them in its last vec4 are zero
  uint strip;                // not 0: row tiles vary fastest, so that a panel stays in the cache. STRIPS: within strips of
                             // so many, whose rows stay in the cache as well
#if FORM != 0
  uint q_columns, head_dim, slots, positions;
  uint kv_first, kv_last;       // columns after q_columns that go to the bound part of kv
  uint cell_begin, cell_end;    // in the bound part; cell = slot * positions + position
  uint kv_begin;                // where the bound part begins, in numbers of kv
  uint row_begin, rows_per_slot;
#endif
#ifdef NORM
  uint cols;        // columns of x
  float epsilon;
  uint writes_h;    // 1: the first workgroup of a row tile stores the normalized rows
  uint h_begin;     // vec4s: where row 0 of the slice begins; the row stride is x_ld4
#endif
} p;

// The workgroup's row tile and column block.
void place(uint group, out uint tile, out uint block) {
  if (p.strip != 0u) {
    // A grid that follows the live rows has fewer tiles than the slice.
    uint all = gl_NumWorkGroups.x * gl_NumWorkGroups.y * gl_NumWorkGroups.z;
    uint tiles = clamp(all / p.blocks, 1u, p.tiles);
#ifdef STRIPS
    uint first = min(group / (p.strip * p.blocks) * p.strip, tiles - 1u);
    group -= first * p.blocks;
    tiles = min(p.strip, tiles - first);
    block = group / tiles;
    tile = first + group - block * tiles;
#else
    block = group / tiles;
    tile = group - block * tiles;
#endif
  } else {
    tile = group / p.blocks;
    block = group - tile * p.blocks;
  }
}

// Four depths of a column group starting at depth 4 * k; its panel begins at `begin`. Depths that share words share one
// load, which compilers recognize.
uint w_at(const uint begin, const uint k) { return begin + depth_row(W_FORMAT, 4u * k) * PANEL4; }
uvec4 scales_at(const uint begin, const uint k) {
  return has_scales(W_FORMAT) ? words_of_w(begin + granule_row(W_FORMAT, 4u * k) * PANEL4) : uvec4(0u);
}
// Does vec4 k of the depth begin a block that shares scales? The slice starts at such a block.
bool begins_scales(const uint k) { return has_scales(W_FORMAT) && k % (BLOCK / 4u) == 0u; }
// How many vec4s of depth from k on share its scales, for kernels that load the scales before an inner loop.
uint sharing_from(const uint k) { return has_scales(W_FORMAT) ? BLOCK / 4u - k % (BLOCK / 4u) : 0x40000000u; }
// Unpacks depth 4 * k + depth from its words; where a word holds at most four depths, the shift does not depend on k.
vec4 unpacked_w(const uvec4 words, const uint k, const uint depth, const uvec4 scales) {
  return weights_of(W_FORMAT, words, scales, depths_a_word(W_FORMAT) > 4u ? 4u * k + depth : depth);
}
// Loads and unpacks one depth of row `at`.
vec4 load_w(const uint at, const uint k, const uint depth, const uvec4 scales) {
  return unpacked_w(words_of_w(at + depth / depths_a_word(W_FORMAT) * PANEL4), k, depth, scales);
}
// Loads and unpacks all four. Shared words are loaded once explicitly: compilers do not merge texel loads.
void load_four_w(const uint at, const uint k, const uvec4 scales, out vec4 four[4]) {
  uvec4 words;
  [[unroll]] for (uint depth = 0u; depth < 4u; ++depth) {
    if (depth % depths_a_word(W_FORMAT) == 0u) words = words_of_w(at + depth / depths_a_word(W_FORMAT) * PANEL4);
    four[depth] = unpacked_w(words, k, depth, scales);
  }
}

// Values common to all rows of column group c. Computed once, after the sums: inside `finish`, after each row's bounds
// test, compilers would repeat its divisions and loads per row.
struct Columns {
  uint c;
#ifndef BESIDE
  vec4 bias;
#endif
#if FORM != 0
  uvec4 kv;  // index in kv of each column at slot 0, position 0; ELSEWHERE: not in the bound part
#endif
};

#if FORM != 0
const uint ELSEWHERE = 0xffffffffu;

uvec4 kv_numbers(uint c) {
  uint width = 2u * p.head_dim, head_stride = p.slots * p.positions * width;
  uvec4 j = uvec4(4u * c - p.q_columns) + uvec4(0, 1, 2, 3), head = j / width;  // columns of q wrap beyond kv_last
  uvec4 numbers = head * head_stride + (j - head * width);
  numbers = mix(numbers, uvec4(ELSEWHERE), lessThan(j, uvec4(p.kv_first)));
  numbers = mix(numbers, uvec4(ELSEWHERE), greaterThanEqual(j, uvec4(p.kv_last)));
  return numbers;
}
#endif

#if FORM == 1
#define BIAS_AT(c) uintBitsToFloat(words_of_w(p.bias_begin + (c)))
#else
#define BIAS_AT(c) b[p.bias_begin + (c)]
#endif

Columns columns_of(uint c) {
  Columns columns;
  columns.c = c;
#ifndef BESIDE
  columns.bias = BIAS_AT(c);
#endif
#if FORM != 0
  columns.kv = kv_numbers(c);
#endif
  return columns;
}

#if FORM != 0
// Where a row's keys and values go: a cell of kv, or ELSEWHERE. A search in an encode pass, so kernels with CELLS do it
// once for all their columns.
uint cell_of(uint row) {
  uint r = p.row_begin + row;
#ifdef STEP
  if (r >= step_word(STEP_LIVE)) return ELSEWHERE;
  uint slot = beam_slot_of(row_word(r)), position = position_of(row_word(r)) % p.positions;  // a ring
#elif defined(SPANS)
  uint sentence;
  uvec4 span = span_of(r, SPAN_ROW, sentence);
  uint slot = span[SPAN_SLOT], position = r - span[SPAN_ROW];
  if (position >= span[SPAN_IDS]) return ELSEWHERE;
#else
  uint slot = r / p.rows_per_slot, position = r - slot * p.rows_per_slot;
#endif
  uint cell = slot * p.positions + position;
  return cell < p.cell_begin || cell >= p.cell_end ? ELSEWHERE : cell;
}

void store_kv(uint cell, uvec4 numbers, vec4 v) {
  if (cell == ELSEWHERE) return;
  uint base = cell * 2u * p.head_dim - p.kv_begin;
  if (KV_FORMAT == KV_FP16) {  // both of a pair are bound, or neither is
    if (numbers.x != ELSEWHERE) store_kv_pair(base + numbers.x, v.xy);
    if (numbers.z != ELSEWHERE) store_kv_pair(base + numbers.z, v.zw);
    return;
  }
  for (uint i = 0u; i < 4u; ++i) {
    if (numbers[i] == ELSEWHERE) continue;
    uint at = base + numbers[i];
    store_kv_number(at, ADD != 0 ? kv_number(at) + v[i] : v[i]);
  }
}
#endif

#ifdef BESIDE
// Terms that are added to the sum of row `row`, loaded before summing: bias and residual. Adding both ahead of the
// activation is safe: a product with an activation has no residual.
vec4 beside(uint row, uint c) {
  vec4 v = BIAS != 0 ? BIAS_AT(c) : vec4(0.0);
#if FORM != 2
  if (ADD != 0 && row < p.rows && 4u * c < p.y_cols) v += y[p.y_begin + row * p.y_ld4 + c];
#endif
  return v;
}
#endif

// Finishes row `row` of the slice: adds bias and residual to the sum (unless beside() did), applies the activation,
// stores.
#ifdef CELLS
void finish(uint row, Columns columns, vec4 sum, uint cell) {
#else
#define cell cell_of(row)
void finish(uint row, Columns columns, vec4 sum) {
#endif
  if (row >= p.rows) return;
#ifndef BESIDE
  if (BIAS != 0) sum += columns.bias;
#endif
#if FORM != 2
  uint c = columns.c;
  if (4u * c < p.y_cols) {
    uint at = p.y_begin + row * p.y_ld4 + c;
    vec4 v = sum;
#ifndef BESIDE
    if (ADD == 1) v += y[at];
#endif
#if FORM == 0
    v = activate(v, ACTIVATION);
#endif
#ifndef BESIDE
    if (ADD == 2) v += y[at];
#endif
    if (4u * c + 4u > p.y_cols)
      v = mix(vec4(0.0), v, lessThan(uvec4(4u * c) + uvec4(0, 1, 2, 3), uvec4(p.y_cols)));
    y[at] = v;
  }
#endif
#if FORM == 1
  if (4u * c + 4u > p.q_columns) store_kv(cell, columns.kv, sum);
#elif FORM == 2
  store_kv(cell, columns.kv, sum);
#endif
}
#ifndef CELLS
#undef cell
#endif
