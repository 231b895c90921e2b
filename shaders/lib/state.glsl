// The GPU's view of src/ops/core/state.hpp: a test compares the constants, and runs these functions against those of
// the header. Uniform buffers are arrays of uvec4.
const uint STEP_TICK = 0u, STEP_LIVE = 1u, STEP_STARTED = 2u, STEP_QUEUED = 3u, STEP_ADMITTED = 4u, STEP_MARK = 5u;
const uint STEP_ROWS = 16u, STEP_QUEUE = 1040u;
const uint MAX_ROWS = 1024u, MAX_BEAMS = 32u, MAX_CANDIDATES = 288u, MAX_GRIDS = 64u, SLOT_BITS = 10u;

const uint P_MARK = 0u, P_MAX_LENGTH = 1u, P_PREFIX = 2u, P_MIN_LENGTH = 3u, P_MIN_NEW_LENGTH = 4u;
const uint P_EARLY_STOPPING = 5u, P_LENGTH_PENALTY = 6u, P_REPETITION_PENALTY = 7u, P_NO_REPEAT_NGRAM = 8u;
const uint P_FORCED_BOS = 9u, P_FORCED_EOS_COUNT = 10u, P_END_COUNT = 11u, P_PAD = 12u;
const uint P_SUPPRESS_OFFSET = 13u, P_SUPPRESS_COUNT = 14u;
const uint P_BEGIN_SUPPRESS_OFFSET = 15u, P_BEGIN_SUPPRESS_COUNT = 16u, P_BEGIN_SUPPRESS_LENGTH = 17u;
const uint P_BAD_WORDS_OFFSET = 18u, P_BAD_WORDS_COUNT = 19u, P_BIAS_OFFSET = 20u, P_BIAS_COUNT = 21u;
const uint P_SOURCE_OFFSET = 22u, P_SOURCE_COUNT = 23u, P_DECAY_START = 24u, P_DECAY_FACTOR = 25u;
const uint P_ENCODER_NO_REPEAT_NGRAM = 26u, P_ENCODER_REPETITION_PENALTY = 27u, P_END_IDS = 28u, P_FORCED_EOS_IDS = 36u;
const uint P_SEED = 44u, P_SEQUENCE = 46u, P_MIN_KEEP = 47u, P_TEMPERATURE = 48u;
const uint P_TOP_H = 49u, P_TOP_K = 50u, P_TOP_P = 51u, P_MIN_P = 52u, P_TYPICAL_P = 53u, P_EPSILON = 54u, P_ETA = 55u;
const uint P_TIMESTAMP_BEGIN = 56u, P_TIMESTAMP_LATEST = 57u, P_TIMESTAMP_AFTER = 58u;
const uint PARAM_WORDS = 60u;
const uint STOP_NO = 0u, STOP_YES = 1u, STOP_NEVER = 2u;

const uint STATUS_NONE = 0u, STATUS_WAITING = 1u, STATUS_RUNNING = 2u, STATUS_ENDED = 3u, STATUS_FULL = 4u;
const uint SEARCH_STATUS = 60u, SEARCH_POSITION = 61u, SEARCH_SETTLED = 62u, SEARCH_FINISHED = 63u, SEARCH_HEADER = 64u;
const uint SEARCH_LARGEST = 224u;  // the stride of MAX_BEAMS
const uint FINISHED_SCORE = 0u, FINISHED_POSITION = 1u, FINISHED_BEAM = 2u, FINISHED_TOKEN = 3u, FINISHED_WORDS = 4u;
const uint LINEAGE_ANCESTRY = 0u, LINEAGE_TOKENS = 1u;
const uint LOG_LIVE = 0u, LOG_RAN = 1u, LOG_TICK = 2u, LOG_MARK = 3u, LOG_HEADER = 4u;
const uint LOG_TOKEN = 0u, LOG_ROW = 1u, LOG_PARENT = 2u, LOG_RUNNING = 3u, LOG_NOTE = 4u, LOG_OCCUPANT = 5u;
const uint LOG_FINISHED = 6u, LOG_ENTRY = 10u;
const uint LOG_NOTE_ENDED = 1u, LOG_NOTE_FAILED = 2u, LOG_NOTE_COUNT_SHIFT = 8u;
const uint INBOX_SENTENCES = 0u, INBOX_CANCELLED = 1u, INBOX_CANCELLED_OFFSET = 2u, INBOX_BLOCKS = 3u;
const uint INBOX_BLOCKS_OFFSET = 4u, INBOX_MARK = 5u, INBOX_HEADER = 8u, INBOX_ENTRY = 64u;
const uint INBOX_PLACE = 0u, INBOX_SOURCE_BEGIN = 1u, INBOX_SOURCE_END = 2u, INBOX_GIVEN_OFFSET = 3u, INBOX_PARAMS = 4u;
const uint INBOX_BLOCK_TO = 0u, INBOX_BLOCK_SIZE = 1u, INBOX_BLOCK_FROM = 2u, INBOX_BLOCK = 3u;
const uint GRID_GROUPS_PER_TILE = 0u, GRID_ROWS_PER_TILE = 1u, GRID_MAX_X = 2u, GRID_ARGUMENTS = 4u, GRID_STRIDE = 8u;
const uint SPAN_ROW = 0u, SPAN_TILE = 1u, SPAN_IDS = 2u, SPAN_PLACE = 3u, TILE_ROWS = 4u;

const float MASKED = -1e30, FORBIDDEN = -1e29, NO_SCORE = -1e9;

// Each mirrors a function of the header: plain uint arithmetic, valid C++ as well. `const` spares calls the copies of
// their arguments.
uint row_word_of(const uint slot, const uint position) { return position << SLOT_BITS | slot; }
uint slot_of(const uint word) { return word & ((1u << SLOT_BITS) - 1u); }
uint position_of(const uint word) { return word >> SLOT_BITS; }

uint step_queue_word(const uint n) { return STEP_QUEUE + (n & (MAX_ROWS - 1u)); }

uint lineage_parity(const uint position) { return position & 1u; }
uint lineage_word(const uint parity, const uint plane, const uint slot, const uint position, const uint slots,
                  const uint positions) {
  return ((parity * 2u + plane) * slots + slot) * positions + position;
}

uint search_stride(const uint beams) { return SEARCH_HEADER + (1u + FINISHED_WORDS) * beams; }
uint search_record(const uint place, const uint beams) { return place * search_stride(beams); }
uint search_running(const uint beam) { return SEARCH_HEADER + beam; }
uint search_finished_entry(const uint beams, const uint i) { return SEARCH_HEADER + beams + FINISHED_WORDS * i; }

uint log_stride(const uint rows) { return LOG_HEADER + LOG_ENTRY * rows; }
uint log_row_at(const uint tick, const uint ticks, const uint rows) { return (tick & (ticks - 1u)) * log_stride(rows); }
uint log_entry_at(const uint row) { return LOG_HEADER + LOG_ENTRY * row; }

uint inbox_entry_at(const uint sentence) { return INBOX_HEADER + INBOX_ENTRY * sentence; }

// Declares uniform block NAME at BINDING and an accessor NAME(word).
#define UNIFORM_WORDS(NAME, BINDING, VEC4S)                                \
  layout(std140, set = 0, binding = BINDING) uniform NAME##_block {        \
    uvec4 NAME##_words[VEC4S];                                             \
  };                                                                       \
  uint NAME(uint i) { return NAME##_words[i >> 2][i & 3u]; }

// Include only blocks that the kernel reads: unused ones would need descriptors.
#ifdef USE_STEP
UNIFORM_WORDS(step_word, 4, 260)
uint row_word(uint row) { return step_word(STEP_ROWS + row); }
#endif
#ifdef PARAMS_BINDING
// The options of a row's sentence; call place_params() first.
layout(std430, set = 0, binding = PARAMS_BINDING) readonly buffer Search { uint search[]; };
uint params_begin;
void place_params(uint slot, uint beams) { params_begin = search_record(slot / beams, beams); }
uint param(uint i) { return search[params_begin + i]; }
float param_float(uint i) { return uintBitsToFloat(param(i)); }
#endif
#ifdef USE_LENGTHS
UNIFORM_WORDS(length_word, 6, 512)  // [begin, end) of sentence s: words 2s, 2s + 1
#endif
#ifdef USE_SPANS
layout(std140, set = 0, binding = 4) uniform spans_block {
  uvec4 spans[MAX_ROWS];
};
// The sentence of an encode pass that holds a row (begin: SPAN_ROW) or a tile (SPAN_TILE): the last one that begins at
// or before it. A row past the last sentence gets an entry with fewer ids than the row's distance from its begin.
uvec4 span_of(uint number, uint begin, out uint sentence) {
  sentence = 0u;
  for (uint reach = MAX_ROWS / 2u; reach > 0u; reach /= 2u)
    if (spans[sentence + reach][begin] <= number) sentence += reach;
  return spans[sentence];
}
#endif
