// Random numbers for sampling: Philox 4x32 with 10 rounds over (block of four ids, step, sequence, beam), keyed by the
// seed. The host's counterpart is src/ops/search/draw.cpp. Taking the greatest score plus Gumbel noise draws from the
// softmax of the scores without a sum over them.

uvec4 philox(uvec4 counter, uvec2 key) {
  for (uint round = 0u; round < 10u; ++round) {
    uint high0, low0, high1, low1;
    umulExtended(0xD2511F53u, counter.x, high0, low0);
    umulExtended(0xCD9E8D57u, counter.z, high1, low1);
    counter = uvec4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key += uvec2(0x9E3779B9u, 0xBB67AE85u);
  }
  return counter;
}

// -log(-log(u)) for u = 1 - v, v = (word + 1/2) / 2^32. Near v = 0, where the winners are, 1 - v would lose most
// digits. `precise` makes a word give the same number wherever the code is inlined.
float gumbel(uint word) {
  precise float v = (float(word) + 0.5) * 2.3283064365386963e-10;
  precise float series = v * (1.0 + v * (0.5 + v * (1.0 / 3.0 + v * (0.25 + v * (0.2 + v * (1.0 / 6.0))))));
  float exponential = v < 0.0625 ? series : -log(max(1.0 - v, 5.9604645e-8));
  return -log(max(exponential, 1e-12));
}

// Determines the random numbers of a row; its position is the step.
struct DrawPlace {
  uint step, sequence, beam;
  uvec2 seed;
};
DrawPlace draw_place(const uint row, const uint beams) {
  uint beam_slot = beam_slot_of(row_word(row));
  place_params(beam_slot, beams);
  return DrawPlace(position_of(row_word(row)), param(P_SEQUENCE), beam_slot % beams,
                   uvec2(param(P_SEED), param(P_SEED + 1u)));
}

// For the ids 4 * block to 4 * block + 3 of the row.
vec4 gumbel4(const uint block, const DrawPlace place) {
  uvec4 words = philox(uvec4(block, place.step, place.sequence, place.beam), place.seed);
  return vec4(gumbel(words.x), gumbel(words.y), gumbel(words.z), gumbel(words.w));
}
