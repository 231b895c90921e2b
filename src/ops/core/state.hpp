// The search state that lives in device memory between steps: the names of its tensors, and the words of each
// (shaders/lib/state_words.glsl, the text that kernels include).
#pragma once

#include <cstdint>

#include "graph/graph.hpp"

namespace lapilli {

namespace state {
#define CONSTANT inline constexpr
#define FUNCTION constexpr
#define uint std::uint32_t
#define WIDE std::uint64_t
#include "lib/state_words.glsl"
#undef CONSTANT
#undef FUNCTION
#undef uint
#undef WIDE
static_assert(MAX_ROWS == 1u << BEAM_SLOT_BITS);
static_assert(MAX_CANDIDATES == (1 + MAX_END_TOKENS) * MAX_BEAMS);
static_assert(SEARCH_LARGEST == search_stride(MAX_BEAMS));

constexpr uint32_t STEP_WORDS = STEP_QUEUE + MAX_ROWS;
constexpr uint32_t SPAN_WORDS = MAX_ROWS * SPAN_STRIDE;  // 16 KiB, which every device binds as a uniform buffer
constexpr uint64_t lineage_words(uint64_t beam_slots, uint64_t positions) { return 4 * beam_slots * positions; }
}  // namespace state

// Names of the state tensors (graph::Tensor::id = state_id(kind, layer)).
enum class StateKind : uint16_t {
  step,            // state::STEP_*, uniform; written as storage by admit and advance only
  inbox,           // new sentences from the host, see state::INBOX_*
  lengths,         // source [begin, end) per slot: two words each, uniform
  source_ids,      // token ids of the sources: [rows] of an encode pass; [batch, length] in teacher forcing
  target_ids,      // token ids of whole targets (teacher forcing)
  target_lengths,  // [begin, end) per sentence for whole targets, uniform
  lineage,         // ancestry and token history, see state::lineage_word()
  search,          // per slot: options, running scores and finished hypotheses, see state::P_* and SEARCH_*
  log,             // the choices of every step, see state::LOG_*; host-readable
  lists,           // suppressed ids, bad words, source ids: data that options point to
  grids,           // indirect dispatch arguments of the steps, see state::GRID_*
  self_kv,         // per layer: [heads][beam slots][positions][2 * head_dim], keys before values
  cross_kv,        // per layer: [heads][slots][source positions][2 * head_dim]
  globals,         // global positions (windows), per sentence: count, rows of the pass (teacher forcing: positions)
  spans,           // spans of the sentences of an encode pass, see state::SPAN_*; uniform, written by the host
  encode_grids,    // as grids, for the encode plan; arguments written by the host for each pass
  prompt,          // STEP_* up to the queue: rows of prompt ids that run at once; written by the host
  prompt_grids,    // as grids, for these
  features,        // numeric sources: their rows, as source_ids
  feature_spans,   // spans of a pass at each level of the encoder's input, SPAN_WORDS each; uniform
  samples,         // samples of the frames of a run, written by the host (speech/feature_pass.hpp)
  floors,          // a float per frame: the minimum level of every band
  frames,          // a word: how many frames count
  source_types,    // token types of the sources, as source_ids
  queries,         // vectors whose products with others are wanted (generate/encoders/score_pass.hpp)
  head_spans,      // rows that a head reads, each a span of one row; as spans
  memory,          // inputs of layers in an earlier segment [layers, batch, rows, d_model]; written by the host
  cells,           // per layer of a decoder with cells: [2 parities][beam slots][d_model] (ops/rows/recurrent_cell.hpp)
  key_masks,       // bits of keys that queries do not see (RelativeTerms::by_mask), for each stream; uniform
};
constexpr uint32_t state_id(StateKind kind, uint32_t layer = 0) { return (static_cast<uint32_t>(kind) << 16) | layer; }
constexpr StateKind state_kind(uint32_t id) { return static_cast<StateKind>(id >> 16); }
constexpr uint32_t state_layer(uint32_t id) { return id & 0xffffu; }

enum class StopRule : uint32_t {
  no = state::STOP_NO,
  yes = state::STOP_YES,
  never = state::STOP_NEVER,
  shrinking = state::STOP_SHRINKING,
};

enum class SentenceStatus : uint32_t {
  none = state::STATUS_NONE,
  waiting = state::STATUS_WAITING,
  running = state::STATUS_RUNNING,
  ended = state::STATUS_ENDED,
  full = state::STATUS_FULL,
};

}  // namespace lapilli
