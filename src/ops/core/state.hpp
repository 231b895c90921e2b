// The search state in GPU memory between steps: the layout of each buffer, word by word. The GLSL counterpart is
// shaders/lib/state.glsl; a test compares the two, constants and functions.
//
// Terms. A *sentence* is one input; while it is worked on it has a *place* of the session. A *slot* is a place for one
// running hypothesis: slot = place * beams + beam; caches and lineage are addressed by slot with strides that the
// session fixes. A *position* counts decoder ids from 0 (the decoder start): with the token at position t in, the token
// at t + 1 comes out. A *row* is a line of the activations of a step; its row word says which slot it is and at which
// position. Rows 0..live-1 run, packed. A *tick* is one run of the session's step, whatever the positions of its rows.
// An encode *pass* runs the rows of its sentences one after another, without padding; a *tile* is up to four rows of
// one sentence, and the tiles of a pass are counted through its sentences.
#pragma once

#include <cstdint>

#include "graph/graph.hpp"

namespace lapilli {

// Names of the state tensors (graph::Tensor::id = state_id(kind, layer)).
enum class StateKind : uint16_t {
  step,            // StepWords, uniform; written as storage by admit and advance only
  inbox,           // new sentences from the host, see InboxLayout
  lengths,         // source [begin, end) per place: two words each, uniform
  source_ids,      // token ids of the sources: [rows] of an encode pass; [batch, length] in teacher forcing
  target_ids,      // token ids of whole targets (teacher forcing)
  target_lengths,  // [begin, end) per sentence for whole targets, uniform
  lineage,         // ancestry and token history, see lineage_word()
  search,          // per place: options, running scores and finished hypotheses, see ParamWords and SearchLayout
  log,             // the choices of every step, see LogLayout; host-readable
  lists,           // suppressed ids, bad words, source ids: data that options point to
  grids,           // indirect dispatch arguments of the steps, see GridWords
  self_kv,         // per layer: [heads][slots][positions][2 * head_dim], keys before values
  cross_kv,        // per layer: [heads][places][source positions][2 * head_dim]
  globals,         // global positions (windows), per sentence: count, rows of the pass (teacher forcing: positions)
  spans,           // spans of the sentences of an encode pass, see SpanWords; uniform, written by the host
  encode_grids,    // as grids, for the encode plan; arguments written by the host for each pass
  given,           // StepWords up to the queue: rows of given ids that run at once; written by the host
  given_grids,     // as grids, for these
  features,        // numeric sources: their rows, as source_ids
  feature_spans,   // spans of a pass at each level of the encoder's input, SpanWords::words each; uniform
  samples,         // samples of the frames of a run, written by the host (speech/feature_pass.hpp)
  floors,          // a float per frame: the minimum level of every band
  frames,          // a word: how many frames count
};
constexpr uint32_t state_id(StateKind kind, uint32_t layer = 0) { return (static_cast<uint32_t>(kind) << 16) | layer; }
constexpr StateKind state_kind(uint32_t id) { return static_cast<StateKind>(id >> 16); }
constexpr uint32_t state_layer(uint32_t id) { return id & 0xffffu; }

// Limits of one session; larger requests are refused by name.
constexpr uint32_t kMaxRows = 1024;  // rows per step; also places and slots
constexpr uint32_t kMaxBeams = 32;
constexpr uint32_t kMaxEndTokens = 8;
constexpr uint32_t kMaxCandidates = 288;  // (1 + end tokens) * beams
constexpr uint32_t kMaxGrids = 64;

// A row word: the slot in the lower bits, the position above.
struct RowWord {
  static constexpr uint32_t slot_bits = 10;
  static constexpr uint32_t of(uint32_t slot, uint32_t position) { return position << slot_bits | slot; }
  static constexpr uint32_t slot(uint32_t word) { return word & ((1u << slot_bits) - 1); }
  static constexpr uint32_t position(uint32_t word) { return word >> slot_bits; }
};
static_assert(kMaxRows == 1u << RowWord::slot_bits);

// step: words 0..15, then the row words, then a ring of the places whose sentences wait to start. Counters wrap.
struct StepWords {
  static constexpr uint32_t tick = 0;      // steps that ran
  static constexpr uint32_t live = 1;      // rows that run
  static constexpr uint32_t started = 2;   // places that left the queue
  static constexpr uint32_t queued = 3;    // places that entered it
  static constexpr uint32_t admitted = 4;  // of these, not yet counted by advance
  static constexpr uint32_t mark = 5;      // mark of the session; the log's headers repeat it
  static constexpr uint32_t rows = 16;     // first of kMaxRows row words
  static constexpr uint32_t given_words = rows + kMaxRows;
  static constexpr uint32_t queue = given_words;  // first of kMaxRows words
  static constexpr uint32_t words = queue + kMaxRows;
  // The word for the n-th place that enters the queue.
  static constexpr uint32_t queue_word(uint32_t n) { return queue + (n & (kMaxRows - 1)); }
};

// The options of a sentence: the first words of its record in the search state, so that inputs with different options
// share a session.
enum class StopRule : uint32_t { no = 0, yes = 1, never = 2 };
struct ParamWords {
  static constexpr uint32_t mark = 0;                // mark of the place's occupant; its log entries repeat it
  static constexpr uint32_t max_length = 1;          // total ids, decoder start included
  static constexpr uint32_t prefix = 2;              // given decoder ids, at least 1 (the decoder start)
  static constexpr uint32_t min_length = 3;          // total ids before which end tokens are forbidden; 0: none
  static constexpr uint32_t min_new_length = 4;      // likewise, by min_new_tokens
  static constexpr uint32_t early_stopping = 5;      // StopRule
  static constexpr uint32_t length_penalty = 6;      // float
  static constexpr uint32_t repetition_penalty = 7;  // float; 1: off
  static constexpr uint32_t no_repeat_ngram = 8;     // 0: off
  static constexpr uint32_t forced_bos = 9;          // id + 1; 0: off
  static constexpr uint32_t forced_eos_count = 10;   // up to kMaxEndTokens
  static constexpr uint32_t end_count = 11;
  static constexpr uint32_t pad = 12;
  // Offsets into lists.
  static constexpr uint32_t suppress_offset = 13, suppress_count = 14;
  static constexpr uint32_t begin_suppress_offset = 15, begin_suppress_count = 16;
  static constexpr uint32_t begin_suppress_length = 17;                   // applies at exactly this many ids
  static constexpr uint32_t bad_words_offset = 18, bad_words_count = 19;  // entries: length, ids...
  static constexpr uint32_t bias_offset = 20, bias_count = 21;            // sequence bias: length, bias (float), ids...
  static constexpr uint32_t source_offset = 22, source_count = 23;        // source ids, for the encoder_* processors
  static constexpr uint32_t decay_start = 24;   // exponential decay: total ids after which it applies; 0: off
  static constexpr uint32_t decay_factor = 25;  // float
  static constexpr uint32_t encoder_no_repeat_ngram = 26;
  static constexpr uint32_t encoder_repetition_penalty = 27;  // float, already inverted; 1: off
  static constexpr uint32_t end_ids = 28;                     // kMaxEndTokens words
  static constexpr uint32_t forced_eos_ids = 36;              // kMaxEndTokens words
  // Sampling. The value in brackets turns an option off.
  static constexpr uint32_t seed = 44;         // two words, the lower one first
  static constexpr uint32_t sequence = 46;     // number that selects the sentence's random draws
  static constexpr uint32_t min_keep = 47;     // minimum of ids that top_k and later filters leave
  static constexpr uint32_t temperature = 48;  // float [1]
  static constexpr uint32_t top_h = 49;        // float [0]
  static constexpr uint32_t top_k = 50;        // [0]
  static constexpr uint32_t top_p = 51;        // float [1]
  static constexpr uint32_t min_p = 52;        // float [0]
  static constexpr uint32_t typical_p = 53;    // float [1]
  static constexpr uint32_t epsilon = 54;      // float [0]
  static constexpr uint32_t eta = 55;          // float [0]
  // Whisper's timestamps.
  static constexpr uint32_t timestamp_begin =
      56;  // id of the first timestamp; the id before it means no timestamps; 0: off
  static constexpr uint32_t timestamp_latest = 57;  // highest id allowed as the first generated token; 0: any
  static constexpr uint32_t timestamp_after = 58;   // total ids before the first generated one
  static constexpr uint32_t words = 60;
};

// spans: an entry of 4 words for each sentence of an encode pass, in the order of their rows; after the last sentence,
// entries {rows, tiles, 0, 0} of the whole pass. A row (or tile) belongs to the last entry that begins at or before it.
struct SpanWords {
  static constexpr uint32_t row = 0;    // the sentence's first row
  static constexpr uint32_t tile = 1;   // its first tile
  static constexpr uint32_t ids = 2;    // number of its ids, which is its number of rows
  static constexpr uint32_t place = 3;  // its number in cross_kv and lengths; in feature_spans the number of rows that
                                        // count
  static constexpr uint32_t stride = 4;
  static constexpr uint32_t words = kMaxRows * stride;  // 16 KiB, which every device binds as a uniform buffer
};
constexpr uint32_t kTileRows = 4;  // rows of one sentence per workgroup of attention

// lineage: [2 parities][2 planes][slots][positions]. Plane 0: the slot whose cache holds that position (ancestry);
// plane 1: the token id. A row at position t reads parity t & 1 (positions 0..t) and writes parity (t + 1) & 1
// (positions 0..t + 1). admit writes the given ids into both parities; for all but the last of them, all slots of a
// place share the cache of its first slot. A slot that continues itself (greedy search) writes positions t and t + 1
// only, since the others are already there.
struct Lineage {
  static constexpr uint32_t ancestry = 0, tokens = 1;  // planes
  static constexpr uint32_t parity(uint32_t position) { return position & 1; }
};
constexpr uint64_t lineage_word(uint64_t parity, uint64_t plane, uint64_t slot, uint64_t position, uint64_t slots,
                                uint64_t positions) {
  return ((parity * 2 + plane) * slots + slot) * positions + position;
}
constexpr uint64_t lineage_words(uint64_t slots, uint64_t positions) { return 4 * slots * positions; }

// The state of a place's sentence.
enum class SentenceStatus : uint32_t {
  none = 0,     // the place is free
  waiting = 1,  // in the queue
  running = 2,
  ended = 3,
  full = 4,  // continues when the session has more positions
};

// search: per place `stride(beams)` words: the options, then the progress of the search.
struct SearchLayout {
  static constexpr uint32_t status = ParamWords::words;        // SentenceStatus
  static constexpr uint32_t position = ParamWords::words + 1;  // position of its rows, whose tokens go in next
  static constexpr uint32_t settled = ParamWords::words + 2;   // no further improvement possible (sticky)
  static constexpr uint32_t finished = ParamWords::words + 3;  // entries in the finished list
  static constexpr uint32_t header = ParamWords::words + 4;    // words before the running scores
  // running[beams] (float: sum of log-probabilities), then finished[beams], best first:
  // score (float, length penalty applied), position at which it ended, beam it ended in (parent), last token
  static constexpr uint32_t finished_score = 0, finished_position = 1, finished_beam = 2, finished_token = 3;
  static constexpr uint32_t finished_words = 4;
  static constexpr uint32_t running(uint32_t beam) { return header + beam; }
  static constexpr uint32_t finished_entry(uint32_t beams, uint32_t i) { return header + beams + finished_words * i; }
  static constexpr uint32_t stride(uint32_t beams) { return header + (1 + finished_words) * beams; }
  static constexpr uint64_t record(uint64_t place, uint32_t beams) { return place * stride(beams); }
};

// log: a ring of `ticks` rows of stride(rows) words; tick t has row t modulo ticks, which the host copies out before it
// is overwritten. A header of 4 words {live rows after the step, rows that ran, tick, the session's mark}, then an
// entry for each row that ran: token at the row's position + 1, row word, parent beam, running score (float), note, the
// occupant's mark; if the sentence ended with this step, also finished hypothesis number `beam` of its list (row b of a
// sentence has number b). Notes: the first row of a sentence says whether and how it ended; in beam search the second
// row gives the best finished hypothesis so far, as 1 + RowWord (beam, position) of where it ended (0: none).
struct LogLayout {
  static constexpr uint32_t header = 4;
  static constexpr uint32_t live = 0, ran = 1, tick = 2, mark = 3;  // words of the header
  static constexpr uint32_t token = 0, row = 1, parent = 2, running = 3, note = 4, occupant = 5, finished = 6;
  static constexpr uint32_t entry = finished + SearchLayout::finished_words;
  static constexpr uint32_t note_ended = 1;        // the search has ended
  static constexpr uint32_t note_count_shift = 8;  // with this many finished hypotheses
  static constexpr uint32_t note_failed = 2;       // a score is not a number: ended without a result
  static constexpr uint64_t stride(uint64_t rows) { return header + entry * rows; }
  static constexpr uint64_t row_at(uint32_t tick_number, uint32_t ticks, uint64_t rows) {
    return (tick_number & (ticks - 1)) * stride(rows);
  }
  // Offset within the row of a tick.
  static constexpr uint64_t entry_at(uint64_t row_number) { return header + entry * row_number; }
};

// inbox: a header of 8 words, then an entry for each new sentence, then data that entries and blocks refer to by their
// word in the inbox.
struct InboxLayout {
  static constexpr uint32_t sentences = 0;  // new sentences
  static constexpr uint32_t cancelled = 1;  // places whose sentences end at once, before the new ones enter
  static constexpr uint32_t cancelled_offset = 2;
  static constexpr uint32_t blocks = 3;  // number of blocks for lists
  static constexpr uint32_t blocks_offset = 4;
  static constexpr uint32_t mark = 5;  // mark of the session
  static constexpr uint32_t header = 8;
  // An entry: place, source [begin, end), offset of its given ids in the inbox, then ParamWords.
  static constexpr uint32_t place = 0, source_begin = 1, source_end = 2, given_offset = 3, params = 4;
  static constexpr uint32_t entry = params + ParamWords::words;
  static constexpr uint32_t entry_at(uint32_t sentence) { return header + entry * sentence; }
  // A block: offset in lists, words, offset in the inbox.
  static constexpr uint32_t block_to = 0, block_size = 1, block_from = 2, block = 3;
};

// grids: kMaxGrids entries of 8 words: groups per tile, rows per tile, largest x, 0 (written once by the host); then
// x, y, z for vkCmdDispatchIndirect and 0 (written by advance from the live rows).
struct GridWords {
  static constexpr uint32_t groups_per_tile = 0, rows_per_tile = 1, max_x = 2, arguments = 4, stride = 8;
};

// Finite stand-in for minus infinity: masked and forbidden. Scores at or below kForbidden are reported as -infinity.
constexpr float kMasked = -1e30f;
constexpr float kForbidden = -1e29f;
// The reference implementation's score of an empty entry, which it also adds to scores that do not count.
constexpr float kNoScore = -1e9f;

}  // namespace lapilli
