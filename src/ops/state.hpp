// The search state that lives in GPU memory between steps: what each buffer holds, word by word. The GLSL counterpart
// is shaders/lib/state.glsl; a test compares the two.
//
// Terms. A *sentence* is one input of the job. A *slot* is a place for one running hypothesis: slot = sentence * beams
// + beam; caches, lineage and log are addressed by slot with strides that the session fixes. A *row* is a line of the
// activations of a step: rows 0..live-1 are the slots that still run, packed; row_slot says which. A *position* counts
// decoder ids from 0 (the decoder start). At step t the token at position t goes in and the token at t + 1 comes out.
#pragma once

#include <cstdint>

#include "graph/graph.hpp"

namespace lapilli {

// Names of the state tensors (graph::Tensor::id = state_id(kind, layer)).
enum class StateKind : uint16_t {
  step,            // StepWords, uniform; written as storage by search_init and advance only
  params,          // ParamWords, uniform, written by the host before a job
  lengths,         // source [begin, end) per sentence: two words each, uniform
  source_ids,      // token ids of the sources [sentences, source bucket]
  target_ids,      // token ids of whole targets (teacher forcing)
  target_lengths,  // [begin, end) per sentence for whole targets, uniform
  lineage,         // ancestry and token history, see lineage_word()
  search,          // running scores and finished hypotheses, see SearchLayout
  log,             // what every step chose, see LogLayout; host-readable
  lists,           // prefix ids, suppressed ids, bad words: written by the host before a job
  grids,           // indirect dispatch arguments, see GridWords
  self_kv,         // per layer: [heads][slots][positions][2 * head_dim], keys before values
  cross_kv,        // per layer: [heads][sentences][source positions][2 * head_dim]
  globals,         // source positions that see everything (windows), per sentence: count, then as many positions
};
constexpr uint32_t state_id(StateKind kind, uint32_t layer = 0) { return (static_cast<uint32_t>(kind) << 16) | layer; }
constexpr StateKind state_kind(uint32_t id) { return static_cast<StateKind>(id >> 16); }
constexpr uint32_t state_layer(uint32_t id) { return id & 0xffffu; }

// Limits of one session; larger requests are refused by name.
constexpr uint32_t kMaxRows = 1024;  // rows of a step; also sentences
constexpr uint32_t kMaxBeams = 32;
constexpr uint32_t kMaxEndTokens = 8;
constexpr uint32_t kMaxCandidates = 288;  // (1 + end tokens) * beams
constexpr uint32_t kMaxGrids = 64;

// step: words 0..15, then row_slot[kMaxRows].
struct StepWords {
  static constexpr uint32_t step = 0;       // t
  static constexpr uint32_t live = 1;       // rows that run
  static constexpr uint32_t done = 2;       // 1: nothing runs any more, every grid is 0
  static constexpr uint32_t row_slot = 16;  // first of kMaxRows words
  static constexpr uint32_t words = row_slot + kMaxRows;
};

// params: fixed for a job.
enum class StopRule : uint32_t { no = 0, yes = 1, never = 2 };
struct ParamWords {
  static constexpr uint32_t sentences = 0;
  static constexpr uint32_t beams = 1;
  static constexpr uint32_t candidates = 2;  // K = max(2, 1 + end tokens) * beams; greedy: 1
  static constexpr uint32_t vocabulary = 3;
  static constexpr uint32_t max_length = 4;          // ids in total, decoder start included
  static constexpr uint32_t prefix = 5;              // given decoder ids per sentence, at least 1 (the decoder start)
  static constexpr uint32_t min_length = 6;          // ids in total before which end tokens are forbidden; 0: none
  static constexpr uint32_t early_stopping = 7;      // StopRule
  static constexpr uint32_t length_penalty = 8;      // float
  static constexpr uint32_t repetition_penalty = 9;  // float; 1: off
  static constexpr uint32_t no_repeat_ngram = 10;    // 0: off
  static constexpr uint32_t forced_bos = 11;         // id + 1; 0: off
  static constexpr uint32_t forced_eos_count = 12;   // up to kMaxEndTokens
  static constexpr uint32_t end_count = 13;
  static constexpr uint32_t pad = 14;
  static constexpr uint32_t renormalize = 15;    // 1: log-softmax again after the processors
  static constexpr uint32_t prefix_offset = 16;  // into lists: ids [sentences][prefix]
  static constexpr uint32_t suppress_offset = 17, suppress_count = 18;
  static constexpr uint32_t begin_suppress_offset = 19, begin_suppress_count = 20;
  static constexpr uint32_t begin_suppress_length = 21;  // applies when exactly this many ids are there
  static constexpr uint32_t bad_words_offset = 22, bad_words_count = 23;  // entries: length, ids...
  static constexpr uint32_t bias_offset = 24, bias_count = 25;            // sequence bias: length, bias (float), ids...
  static constexpr uint32_t decay_start = 26;   // exponential decay: ids in total after which it works; 0: off
  static constexpr uint32_t decay_factor = 27;  // float
  static constexpr uint32_t source_offset =
      28;  // into lists: source ids [sentences][source_stride], for the encoder_* processors
  static constexpr uint32_t source_stride = 29;
  static constexpr uint32_t encoder_no_repeat_ngram = 30;
  static constexpr uint32_t encoder_repetition_penalty = 31;  // float, already inverted; 1: off
  static constexpr uint32_t end_ids = 32;                     // kMaxEndTokens words
  static constexpr uint32_t forced_eos_ids = 40;              // kMaxEndTokens words
  static constexpr uint32_t min_new_length =
      48;  // ids in total before which end tokens are forbidden, by min_new_tokens
  // Sampling. What is off has the value in brackets.
  static constexpr uint32_t seed = 50;             // two words, the lower one first
  static constexpr uint32_t sequence_offset = 52;  // into lists: per sentence the number that its draws go by
  static constexpr uint32_t min_keep = 53;         // ids that top_k and the filters after it leave at least
  static constexpr uint32_t temperature = 54;      // float [1]
  static constexpr uint32_t top_h = 55;            // float [0]
  static constexpr uint32_t top_k = 56;            // [0]
  static constexpr uint32_t top_p = 57;            // float [1]
  static constexpr uint32_t min_p = 58;            // float [0]
  static constexpr uint32_t typical_p = 59;        // float [1]
  static constexpr uint32_t epsilon = 60;          // float [0]
  static constexpr uint32_t eta = 61;              // float [0]
  // Whisper's timestamps.
  static constexpr uint32_t timestamp_begin =
      62;  // the first one's id; the id before it says that there are none; 0: off
  static constexpr uint32_t timestamp_latest = 63;  // the latest id that the first generated token may be; 0: any
  static constexpr uint32_t timestamp_after = 64;   // ids in total before the first generated one
  static constexpr uint32_t log_mark = 65;          // any word; the log's rows repeat it, so that no older row passes
  static constexpr uint32_t words = 80;
};

// lineage: [2 parities][2 planes][slots][positions]. Plane 0: the slot whose cache holds that position (ancestry);
// plane 1: the token id. Step t reads parity t & 1 (positions 0..t) and writes parity (t + 1) & 1 (positions 0..t + 1).
// search_init writes the given ids into both parities: while ids are given every slot continues itself, and a slot that
// continues itself (greedy search) writes positions t and t + 1 only, the others being there already.
constexpr uint64_t lineage_word(uint64_t parity, uint64_t plane, uint64_t slot, uint64_t position, uint64_t slots,
                                uint64_t positions) {
  return ((parity * 2 + plane) * slots + slot) * positions + position;
}
constexpr uint64_t lineage_words(uint64_t slots, uint64_t positions) { return 4 * slots * positions; }

// search: per sentence `stride(beams)` words.
struct SearchLayout {
  static constexpr uint32_t done = 0;      // the sentence's search has ended
  static constexpr uint32_t settled = 1;   // no improvement possible any more (sticky)
  static constexpr uint32_t finished = 2;  // entries in the finished list
  static constexpr uint32_t header = 4;    // words before running scores
  // running[beams] (float: sum of log-probabilities), then finished[beams] of 4 words, best first:
  // score (float, length penalty applied), step t at which it ended, slot it ended in (parent), last token
  static constexpr uint32_t running(uint32_t) { return header; }
  static constexpr uint32_t finished_list(uint32_t beams) { return header + beams; }
  static constexpr uint32_t stride(uint32_t beams) { return header + 5 * beams; }
};

// log: per step `stride(slots)` words: a header of 4 words {live rows after the step, done after the step, the job's
// log_mark, 0}, then per slot 4 words: token at position t + 1, parent slot, running score (float), note. Only live slots are written.
// Notes of beam search, for who follows it from the host: a sentence's first slot has note_done if its search ended with
// this step; its second one has the best hypothesis that has finished so far, as the step and the slot it ended in (0:
// none). All other notes are 0.
struct LogLayout {
  static constexpr uint32_t header = 4;
  static constexpr uint32_t mark = 2;  // word of the header
  static constexpr uint32_t note_done = 1;
  static constexpr uint32_t note(uint32_t step, uint32_t slot) { return 1 + step * kMaxRows + slot; }
  static constexpr uint32_t note_step(uint32_t note) { return (note - 1) / kMaxRows; }
  static constexpr uint32_t note_slot(uint32_t note) { return (note - 1) % kMaxRows; }
  static constexpr uint64_t stride(uint64_t slots) { return header + 4 * slots; }
};

// grids: kMaxGrids entries of 8 words: groups per tile, rows per tile, largest x, 0 (written once by the host); then
// x, y, z for vkCmdDispatchIndirect and 0 (written by search_init and advance from the live rows).
struct GridWords {
  static constexpr uint32_t groups_per_tile = 0, rows_per_tile = 1, max_x = 2, arguments = 4, stride = 8;
};

// Finite stand-in for minus infinity: masked and forbidden. Scores at or below kForbidden are reported as -infinity.
constexpr float kMasked = -1e30f;
constexpr float kForbidden = -1e29f;

}  // namespace lapilli
