// The GPU's view of src/ops/state.hpp (a test compares the constants). Uniform buffers are arrays of uvec4.
const uint STEP_STEP = 0u, STEP_LIVE = 1u, STEP_DONE = 2u, STEP_ROW_SLOT = 16u;
const uint MAX_ROWS = 1024u, MAX_GRIDS = 64u;

const uint P_SENTENCES = 0u, P_BEAMS = 1u, P_CANDIDATES = 2u, P_VOCABULARY = 3u, P_MAX_LENGTH = 4u, P_PREFIX = 5u;
const uint P_MIN_LENGTH = 6u, P_EARLY_STOPPING = 7u, P_LENGTH_PENALTY = 8u, P_REPETITION_PENALTY = 9u;
const uint P_NO_REPEAT_NGRAM = 10u, P_FORCED_BOS = 11u, P_FORCED_EOS_COUNT = 12u, P_END_COUNT = 13u, P_PAD = 14u;
const uint P_RENORMALIZE = 15u, P_PREFIX_OFFSET = 16u, P_SUPPRESS_OFFSET = 17u, P_SUPPRESS_COUNT = 18u;
const uint P_BEGIN_SUPPRESS_OFFSET = 19u, P_BEGIN_SUPPRESS_COUNT = 20u, P_BEGIN_SUPPRESS_LENGTH = 21u;
const uint P_BAD_WORDS_OFFSET = 22u, P_BAD_WORDS_COUNT = 23u, P_BIAS_OFFSET = 24u, P_BIAS_COUNT = 25u;
const uint P_DECAY_START = 26u, P_DECAY_FACTOR = 27u, P_SOURCE_OFFSET = 28u, P_SOURCE_STRIDE = 29u;
const uint P_ENCODER_NO_REPEAT_NGRAM = 30u, P_ENCODER_REPETITION_PENALTY = 31u, P_END_IDS = 32u, P_FORCED_EOS_IDS = 40u;
const uint P_MIN_NEW_LENGTH = 48u, P_SEED = 50u, P_SEQUENCE_OFFSET = 52u, P_MIN_KEEP = 53u, P_TEMPERATURE = 54u;
const uint P_TOP_H = 55u, P_TOP_K = 56u, P_TOP_P = 57u, P_MIN_P = 58u, P_TYPICAL_P = 59u, P_EPSILON = 60u, P_ETA = 61u;
const uint P_TIMESTAMP_BEGIN = 62u, P_TIMESTAMP_LATEST = 63u, P_TIMESTAMP_AFTER = 64u;
const uint P_LOG_MARK = 65u;

const uint SEARCH_DONE = 0u, SEARCH_SETTLED = 1u, SEARCH_FINISHED = 2u, SEARCH_HEADER = 4u;
const uint LOG_HEADER = 4u, LOG_MARK = 2u, LOG_NOTE_DONE = 1u;
const uint GRID_GROUPS_PER_TILE = 0u, GRID_ROWS_PER_TILE = 1u, GRID_MAX_X = 2u, GRID_ARGUMENTS = 4u, GRID_STRIDE = 8u;

const float MASKED = -1e30, FORBIDDEN = -1e29;

// Declares uniform block NAME at BINDING and an accessor NAME(word).
#define UNIFORM_WORDS(NAME, BINDING, VEC4S)                                \
  layout(std140, set = 0, binding = BINDING) uniform NAME##_block {        \
    uvec4 NAME##_words[VEC4S];                                             \
  };                                                                       \
  uint NAME(uint i) { return NAME##_words[i >> 2][i & 3u]; }

// Include only what the kernel reads: unused blocks would ask for descriptors.
#ifdef USE_STEP
UNIFORM_WORDS(step_word, 4, 260)
#endif
#ifdef USE_PARAMS
UNIFORM_WORDS(param, 5, 20)
float param_float(uint i) { return uintBitsToFloat(param(i)); }
#endif
#ifdef USE_LENGTHS
UNIFORM_WORDS(length_word, 6, 512)  // [begin, end) of sentence s: words 2s, 2s + 1
#endif
