// Layout of a matrix in a weight: the GPU's view of lapilli::WeightLayout in src/ops/core/weight_layout.hpp (a test
// compares the two).
const uint PANEL = 32u;          // columns per panel
const uint PANEL4 = PANEL / 4u;  // vec4s per row of a panel
// Values of lapilli::WeightFormat.
const uint FORMAT_FP32 = 0u, FORMAT_BF16 = 1u, FORMAT_FP16 = 2u, FORMAT_INT8 = 3u, FORMAT_INT4 = 4u;
const uint BLOCK = 32u;  // depths that share a scale

// Depths of a column that share a word, and the right shift that extracts one of them.
uint depths_a_word(const uint format) {
  return format == FORMAT_FP32 ? 1u : format == FORMAT_INT8 ? 4u : format == FORMAT_INT4 ? 8u : 2u;
}
uint depth_shift(const uint format, const uint depth) {
  return depth % depths_a_word(format) * (32u / depths_a_word(format));
}

bool has_scales(const uint format) { return format == FORMAT_INT8 || format == FORMAT_INT4; }
// Parts that are packed separately begin at multiples of this.
uint granule(const uint format) { return has_scales(format) ? BLOCK : depths_a_word(format); }

// The row of words that holds a depth, and the first row of its granule, which holds its scale if there is one.
uint depth_row(const uint format, const uint depth) {
  return depth / depths_a_word(format) + (has_scales(format) ? depth / BLOCK + 1u : 0u);
}
uint granule_row(const uint format, const uint depth) {
  return has_scales(format) ? depth / BLOCK * (BLOCK / depths_a_word(format) + 1u) : depth / depths_a_word(format);
}

// The word of a column in a row of words, given the words (or vec4s) per panel; in vec4s, `column` counts groups of
// four columns.
uint packed_element(const uint column, const uint row, const uint panel_words) {
  return column / PANEL * panel_words + row * PANEL + column % PANEL;
}
uint packed_element4(const uint column4, const uint row, const uint panel4) {
  return column4 / PANEL4 * panel4 + row * PANEL4 + column4 % PANEL4;
}
