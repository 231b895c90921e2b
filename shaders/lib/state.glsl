// The search state, for kernels: its words, and the blocks that bring them. Uniform buffers are arrays of uvec4.
#define CONSTANT const
#define FUNCTION
#define WIDE uint
#include "state_words.glsl"
#undef CONSTANT
#undef FUNCTION
#undef WIDE

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
void place_params(uint beam_slot, uint beams) { params_begin = search_record(beam_slot / beams, beams); }
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
