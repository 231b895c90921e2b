// The search state in device memory between steps: the layout of each buffer, word by word. Kernels include this text
// through state.glsl, and src/ops/core/state.hpp as C++, in the namespace lapilli::state: it is plain arithmetic of uint,
// which both languages share. CONSTANT, FUNCTION and WIDE belong to the includer: `WIDE` is uint in GLSL and uint64_t in
// C++, where sizes are checked before a buffer exists.
//
// Terms. A *sentence* is one input; while it is worked on it has a *slot* of the session, and in it a *beam slot* for each
// running hypothesis: beam slot = slot * beams + beam. Lineage and the cache of self attention are addressed by beam slot,
// the cache of cross attention by slot, with strides that the session fixes; kernels of either cache call its rows slots
// (kv_layout.hpp). A *position* counts decoder ids from 0 (the decoder start): with the token at position t in, the token
// at t + 1 comes out. A *row* is a line of the activations of a step; its row word says which beam slot it is and at which
// position. Rows 0..live-1 run, packed. A *tick* is one run of the session's step, whatever the positions of its rows.
// An encode *pass* runs the rows of its sentences one after another, without padding; a *tile* is up to four rows of
// one sentence, and the tiles of a pass are counted through its sentences.

// Limits of one session; larger requests are refused by name.
CONSTANT uint BEAM_SLOT_BITS = 10u;
CONSTANT uint MAX_ROWS = 1024u;  // 1 << BEAM_SLOT_BITS rows per step; also slots and beam slots
CONSTANT uint MAX_BEAMS = 32u;
CONSTANT uint MAX_END_TOKENS = 8u;
CONSTANT uint MAX_CANDIDATES = 288u;  // (1 + MAX_END_TOKENS) * MAX_BEAMS
CONSTANT uint MAX_GRIDS = 64u;

// A row word: the beam slot in the lower bits, the position above.
FUNCTION uint row_word_of(const uint beam_slot, const uint position) { return position << BEAM_SLOT_BITS | beam_slot; }
FUNCTION uint beam_slot_of(const uint word) { return word & ((1u << BEAM_SLOT_BITS) - 1u); }
FUNCTION uint position_of(const uint word) { return word >> BEAM_SLOT_BITS; }

// step: words 0..15, then the row words, then a ring of the slots whose sentences wait to start. Counters wrap.
CONSTANT uint STEP_TICK = 0u;      // steps that ran
CONSTANT uint STEP_LIVE = 1u;      // rows that run
CONSTANT uint STEP_STARTED = 2u;   // slots that left the queue
CONSTANT uint STEP_QUEUED = 3u;    // slots that entered it
CONSTANT uint STEP_ADMITTED = 4u;  // of these, not yet counted by advance
CONSTANT uint STEP_MARK = 5u;      // mark of the session; the log's headers repeat it
CONSTANT uint STEP_ROWS = 16u;     // first of MAX_ROWS row words
CONSTANT uint STEP_QUEUE = STEP_ROWS + MAX_ROWS;  // first of MAX_ROWS words
// The word for the n-th slot that enters the queue.
FUNCTION uint step_queue_word(const uint n) { return STEP_QUEUE + (n & (MAX_ROWS - 1u)); }

// The options of a sentence: the first words of its record in the search state, so that inputs with different options
// share a session.
CONSTANT uint P_MARK = 0u;                // mark of the slot's occupant; its log entries repeat it
CONSTANT uint P_MAX_LENGTH = 1u;          // total ids, decoder start included
CONSTANT uint P_PREFIX = 2u;              // prompt ids, at least 1 (the decoder start)
CONSTANT uint P_MIN_LENGTH = 3u;          // total ids before which end tokens are forbidden; 0: none
CONSTANT uint P_MIN_NEW_LENGTH = 4u;      // likewise, by min_new_tokens
CONSTANT uint P_EARLY_STOPPING = 5u;      // STOP_*
CONSTANT uint P_LENGTH_PENALTY = 6u;      // float
CONSTANT uint P_REPETITION_PENALTY = 7u;  // float; 1: off
CONSTANT uint P_NO_REPEAT_NGRAM = 8u;     // 0: off
CONSTANT uint P_FORCED_BOS = 9u;          // id + 1; 0: off
CONSTANT uint P_FORCED_EOS_COUNT = 10u;   // up to MAX_END_TOKENS
CONSTANT uint P_END_COUNT = 11u;
CONSTANT uint P_PAD = 12u;
// Offsets into lists.
CONSTANT uint P_SUPPRESS_OFFSET = 13u, P_SUPPRESS_COUNT = 14u;
CONSTANT uint P_BEGIN_SUPPRESS_OFFSET = 15u, P_BEGIN_SUPPRESS_COUNT = 16u;
CONSTANT uint P_BEGIN_SUPPRESS_LENGTH = 17u;  // applies at exactly this many ids
CONSTANT uint P_BAD_WORDS_OFFSET = 18u, P_BAD_WORDS_COUNT = 19u;  // entries: length, ids...
CONSTANT uint P_BIAS_OFFSET = 20u, P_BIAS_COUNT = 21u;            // sequence bias: length, bias (float), ids...
CONSTANT uint P_SOURCE_OFFSET = 22u, P_SOURCE_COUNT = 23u;        // source ids, for the encoder_* processors
CONSTANT uint P_DECAY_START = 24u;   // exponential decay: total ids after which it applies; 0: off
CONSTANT uint P_DECAY_FACTOR = 25u;  // float
CONSTANT uint P_ENCODER_NO_REPEAT_NGRAM = 26u;
CONSTANT uint P_ENCODER_REPETITION_PENALTY = 27u;  // float, already inverted; 1: off
CONSTANT uint P_END_IDS = 28u;                     // MAX_END_TOKENS words
CONSTANT uint P_FORCED_EOS_IDS = 36u;              // MAX_END_TOKENS words
// Sampling. The value in brackets turns an option off.
CONSTANT uint P_SEED = 44u;         // two words, the lower one first
CONSTANT uint P_SEQUENCE = 46u;     // number that selects the sentence's random draws
CONSTANT uint P_MIN_KEEP = 47u;     // minimum of ids that top_k and later filters leave
CONSTANT uint P_TEMPERATURE = 48u;  // float [1]
CONSTANT uint P_TOP_H = 49u;        // float [0]
CONSTANT uint P_TOP_K = 50u;        // [0]
CONSTANT uint P_TOP_P = 51u;        // float [1]
CONSTANT uint P_MIN_P = 52u;        // float [0]
CONSTANT uint P_TYPICAL_P = 53u;    // float [1]
CONSTANT uint P_EPSILON = 54u;      // float [0]
CONSTANT uint P_ETA = 55u;          // float [0]
// Whisper's timestamps.
CONSTANT uint P_TIMESTAMP_BEGIN = 56u;   // id of the first timestamp; the id before it means no timestamps; 0: off
CONSTANT uint P_TIMESTAMP_LATEST = 57u;  // highest id allowed as the first generated token; 0: any
CONSTANT uint P_TIMESTAMP_AFTER = 58u;   // total ids before the first generated one
CONSTANT uint P_SHORTLIST = 59u;  // offset + 1 into lists of the ids that may be written, as bits; 0: all
CONSTANT uint PARAM_WORDS = 60u;
// early_stopping. STOP_SHRINKING: each hypothesis that ends takes its place in the beam with it, as in Marian.
CONSTANT uint STOP_NO = 0u, STOP_YES = 1u, STOP_NEVER = 2u, STOP_SHRINKING = 3u;

// lineage: [2 parities][2 planes][beam slots][positions]. Plane 0: the beam slot whose cache holds the position (ancestry);
// plane 1: the token id. A row at position t reads parity t & 1 (positions 0..t) and writes parity (t + 1) & 1
// (positions 0..t + 1). admit writes the prompt ids into both parities; for all but the last of them, all beam slots of a
// slot share the cache of its first. A beam slot that continues itself (greedy search) writes positions t and t + 1 only,
// since the others are already there.
CONSTANT uint LINEAGE_ANCESTRY = 0u, LINEAGE_TOKENS = 1u;  // planes
FUNCTION uint lineage_parity(const uint position) { return position & 1u; }
FUNCTION WIDE lineage_word(const WIDE parity, const WIDE plane, const WIDE beam_slot, const WIDE position,
                           const WIDE beam_slots, const WIDE positions) {
  return ((parity * 2u + plane) * beam_slots + beam_slot) * positions + position;
}

// search: per slot search_stride(beams) words: the options, then the progress of the search.
CONSTANT uint SEARCH_STATUS = PARAM_WORDS;         // STATUS_*
CONSTANT uint SEARCH_POSITION = PARAM_WORDS + 1u;  // position of its rows, whose tokens go in next
CONSTANT uint SEARCH_SETTLED = PARAM_WORDS + 2u;   // no further improvement possible (sticky)
CONSTANT uint SEARCH_FINISHED = PARAM_WORDS + 3u;  // entries in the finished list
CONSTANT uint SEARCH_HEADER = PARAM_WORDS + 4u;    // words before the running scores
// The state of a slot's sentence; `full` continues when the session has more positions, `none` is a free slot.
CONSTANT uint STATUS_NONE = 0u, STATUS_WAITING = 1u, STATUS_RUNNING = 2u, STATUS_ENDED = 3u, STATUS_FULL = 4u;
// running[beams] (float: sum of log-probabilities), then finished[beams], best first:
// score (float, length penalty applied), position at which it ended, beam it ended in (parent), last token
CONSTANT uint FINISHED_SCORE = 0u, FINISHED_POSITION = 1u, FINISHED_BEAM = 2u, FINISHED_TOKEN = 3u, FINISHED_WORDS = 4u;
CONSTANT uint SEARCH_LARGEST = SEARCH_HEADER + (1u + FINISHED_WORDS) * MAX_BEAMS;  // the stride of MAX_BEAMS
FUNCTION uint search_stride(const uint beams) { return SEARCH_HEADER + (1u + FINISHED_WORDS) * beams; }
FUNCTION WIDE search_record(const WIDE slot, const uint beams) { return slot * search_stride(beams); }
FUNCTION uint search_running(const uint beam) { return SEARCH_HEADER + beam; }
FUNCTION uint search_finished_entry(const uint beams, const uint i) {
  return SEARCH_HEADER + beams + FINISHED_WORDS * i;
}

// log: a ring of `ticks` rows of log_stride(rows) words; tick t has row t modulo ticks, which the host copies out before
// it is overwritten. A header of 4 words {live rows after the step, rows that ran, tick, the session's mark}, then an
// entry for each row that ran: token at the row's position + 1, row word, parent beam, running score (float), note, the
// occupant's mark; if the sentence ended with this step, also finished hypothesis number `beam` of its list (row b of a
// sentence has number b). Notes: the first row of a sentence says whether and how it ended; in beam search the second
// row gives the best finished hypothesis so far, as 1 + row word (beam, position) of where it ended (0: none).
CONSTANT uint LOG_LIVE = 0u, LOG_RAN = 1u, LOG_TICK = 2u, LOG_MARK = 3u, LOG_HEADER = 4u;
CONSTANT uint LOG_TOKEN = 0u, LOG_ROW = 1u, LOG_PARENT = 2u, LOG_RUNNING = 3u, LOG_NOTE = 4u, LOG_OCCUPANT = 5u;
CONSTANT uint LOG_FINISHED = 6u, LOG_ENTRY = LOG_FINISHED + FINISHED_WORDS;
CONSTANT uint LOG_NOTE_ENDED = 1u;        // the search has ended
CONSTANT uint LOG_NOTE_FAILED = 2u;       // a score is not a number: ended without a result
CONSTANT uint LOG_NOTE_COUNT_SHIFT = 8u;  // with this many finished hypotheses
FUNCTION WIDE log_stride(const WIDE rows) { return LOG_HEADER + LOG_ENTRY * rows; }
FUNCTION WIDE log_row_at(const uint tick, const uint ticks, const WIDE rows) {
  return (tick & (ticks - 1u)) * log_stride(rows);
}
FUNCTION WIDE log_entry_at(const WIDE row) { return LOG_HEADER + LOG_ENTRY * row; }  // offset within the row of a tick

// inbox: a header of 8 words, then an entry for each new sentence, then data that entries and blocks refer to by their
// word in the inbox.
CONSTANT uint INBOX_SENTENCES = 0u;  // new sentences
CONSTANT uint INBOX_CANCELLED = 1u;  // slots whose sentences end at once, before the new ones enter
CONSTANT uint INBOX_CANCELLED_OFFSET = 2u;
CONSTANT uint INBOX_BLOCKS = 3u;  // number of blocks for lists
CONSTANT uint INBOX_BLOCKS_OFFSET = 4u;
CONSTANT uint INBOX_MARK = 5u;  // mark of the session
CONSTANT uint INBOX_HEADER = 8u;
// An entry: slot, source [begin, end), offset of its prompt ids in the inbox, then the options.
CONSTANT uint INBOX_SLOT = 0u, INBOX_SOURCE_BEGIN = 1u, INBOX_SOURCE_END = 2u, INBOX_PROMPT_OFFSET = 3u;
CONSTANT uint INBOX_PARAMS = 4u, INBOX_ENTRY = INBOX_PARAMS + PARAM_WORDS;
FUNCTION uint inbox_entry_at(const uint sentence) { return INBOX_HEADER + INBOX_ENTRY * sentence; }
// A block: offset in lists, words, offset in the inbox.
CONSTANT uint INBOX_BLOCK_TO = 0u, INBOX_BLOCK_SIZE = 1u, INBOX_BLOCK_FROM = 2u, INBOX_BLOCK = 3u;

// grids: MAX_GRIDS entries of 8 words: groups per tile, rows per tile, largest x, 0 (written once by the host); then
// x, y, z for vkCmdDispatchIndirect and 0 (written by advance from the live rows).
CONSTANT uint GRID_GROUPS_PER_TILE = 0u, GRID_ROWS_PER_TILE = 1u, GRID_MAX_X = 2u, GRID_ARGUMENTS = 4u, GRID_STRIDE = 8u;

// spans: an entry of 4 words for each sentence of an encode pass, in the order of their rows; after the last sentence,
// entries {rows, tiles, 0, 0} of the whole pass. A row (or tile) belongs to the last entry that begins at or before it.
CONSTANT uint SPAN_ROW = 0u;    // the sentence's first row
CONSTANT uint SPAN_TILE = 1u;   // its first tile
CONSTANT uint SPAN_IDS = 2u;    // number of its ids, which is its number of rows
CONSTANT uint SPAN_SLOT = 3u;   // its slot in cross_kv and lengths; in feature_spans the number of rows that count
CONSTANT uint SPAN_STRIDE = 4u;
CONSTANT uint TILE_ROWS = 4u;  // rows of one sentence per workgroup of attention

// Finite stand-in for minus infinity: masked and forbidden. Scores at or below FORBIDDEN are reported as -infinity.
CONSTANT float MASKED = -1e30f, FORBIDDEN = -1e29f;
// The reference implementation's score of an empty entry, which it also adds to scores that do not count.
CONSTANT float NO_SCORE = -1e9f;
