// Bindings and parameters of attention.comp, attention_lanes.comp (LANES) and attention_simple.comp (SIMPLE), and the
// layout of heads in them. QT: queries that a workgroup takes together, or (SIMPLE) of which it takes one. TILE (with
// STEP): rows of prompts, so those of one text follow one another.
#include "common.glsl"
#if defined(STEP) && !defined(TILE)
#define ONE_QUERY
#define QT 1
#elif !defined(LANES)
#define QT 4
#elif !defined(QT)
#define QT 16
#endif
#ifdef STEP
#define USE_STEP
#ifdef CROSS
#define USE_LENGTHS
#endif
#elif defined(SPANS)
#define USE_SPANS
#elif !defined(MAP_BIAS)
#define USE_LENGTHS
#endif
#include "state.glsl"
#include "head_columns.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 32;
layout(constant_id = 1) const uint HEAD_DIM = 64;
#ifdef STEP
layout(constant_id = 2) const uint SPLIT = 0;  // 1: a workgroup has one chunk of the keys; attention_quotient.comp
                                               // combines them
#endif

layout(std430, set = 0, binding = 0) readonly buffer Q { T q[]; };
#ifdef STEP
#define KV_FORMAT_ID 3
#define GROUP_ID 4
#define SCORE_CAP_ID 5
#define BIAS_ROWS_ID 6
#else
#define GROUP_ID 2
#define SCORE_CAP_ID 3
#define BIAS_ROWS_ID 4
#endif
layout(constant_id = GROUP_ID) const uint GROUP = 1;  // heads of queries that share a head of keys and values
#include "kv_read.glsl"
#if !defined(TERMS) && !defined(MAP_BIAS)
#define CAPPED
#include "score_cap.glsl"
#endif
#ifdef STEP
#ifndef CROSS
layout(std430, set = 0, binding = 2) readonly buffer Lineage { uint lineage[]; };
#endif
layout(std430, set = 0, binding = 3) writeonly buffer Out { T context[]; };  // SPLIT: [heads][rows][chunks] sums
#else
// TERMS: binding 3 has their vectors, so that weights take the place of the context.
#if defined(TERMS) && defined(WEIGHTS)
layout(std430, set = 0, binding = 2) buffer Weights { float weights[]; };
#else
layout(std430, set = 0, binding = 2) writeonly buffer Out { T context[]; };
#endif
#if defined(WEIGHTS) && !defined(TERMS)
layout(std430, set = 0, binding = 3) buffer Weights { float weights[]; };
#endif
#ifdef WINDOW
layout(std430, set = 0, binding = 3) readonly buffer Globals { uint globals[]; };  // per sentence: count, then queries
#endif
#endif

layout(push_constant) uniform P {
  uint groups;
  uint all_heads;               // of queries
  uint heads, head_begin;       // of the slice
  uint slots, positions;        // strides of kv
  uint slot_begin, slot_end;    // range of sentences or slots in the bound part
  uint kv_begin;                // where the bound part begins, in numbers of kv
  uint q_begin, out_begin;      // words: where row 0 would begin (may wrap)
  uint ld, out_ld;              // row strides in words
  float scale;
  int bias_low;                 // the table's first distance (key - query), and how many follow
  uint bias_last;
  uint bias_column;             // BIAS_ROWS, TERMS: column of q
#ifdef STEP
  uint lineage_beam_slots, lineage_positions;
  uint beams;  // CROSS: beam slots per slot
  uint chunks, rows;  // SPLIT: chunks of the most keys; rows per head in `context`
  uint window;        // keys before its own that a row sees
  uint sink_column;   // BIAS: column of q with the first head's sink; 0: none
#else
  uint queries, query_begin, query_end;  // queries of a sentence; range of the slice
  uint tiles;                            // workgroups along the queries
  uint keys, causal;                     // causal: 0: no mask; TERMS: keys up to its own that a query sees
  uint weights_begin, weights_ld;
#ifdef TERMS
  uint line_words, first_line;           // words from a line of vectors to the next one; number of the first line there
  uint key_column, key_stride;           // of a line's keys: where they begin, and words from a head to the next one
  uint segment_column, type_column;      // of q
  uint mask_begin;                       // word of the bound mask where sentence 0 would begin (may wrap)
#else
  uint window;                           // keys before the query; MAP_BIAS: side length of a map window
  uint global_queries;                   // 1: the queries are the listed ones and see everything
  uint globals_begin, globals_stride;    // words: where sentence 0 begins (may wrap); stride per sentence, 0: no lists
#ifdef WINDOW
  uint window_after;                     // keys after the query
#else
  uint map_rows, map_columns, map_shift; // MAP_BIAS: windows of a map, and its cyclic shift
#endif
#endif
#endif
} p;

const uint PARTS = HEAD_DIM / WIDTH;
const bool TWO_COLUMNS = LOCAL < PARTS;
#ifdef STEP
const uint LAST = (HEAD_DIM + 3u) / 4u * 4u / WIDTH;  // SPLIT: where maximum and sum are in a line of running sums
#endif

#if defined(STEP) && !defined(CROSS)
uint lap;  // the position of cell 0 when the row's first key was written
#endif

#if !defined(TERMS) || !defined(WEIGHTS)
#include "log_sums.glsl"
#endif

// The self-attention caches of steps are rings: position % positions is the cell of a position.
uint kv_at(uint head, uint slot, uint position) {
#if defined(STEP) && !defined(CROSS)
  uint cell = position - lap;
  if (cell >= p.positions) cell -= p.positions;
#else
  uint cell = position;
#endif
  return (((head / GROUP * p.slots + slot) * p.positions + cell) * 2u * HEAD_DIM - p.kv_begin) / WIDTH;
}

#if defined(BIAS) || defined(MAP_BIAS)
#include "relative_bias.glsl"
#endif
#ifdef TERMS
#include "relative_terms.glsl"
#endif
