// How a matrix lies in a weight: the GPU's view of lapilli::packed in src/ops/matmul.hpp (a test compares the two).
const uint PANEL = 32u;          // columns of a panel
const uint PANEL4 = PANEL / 4u;  // vec4 of a row of a panel

// The word of an element, given how many words (or vec4) a panel has; in vec4 `column` counts groups of four columns.
uint packed_element(const uint column, const uint row, const uint panel_words) {
  return column / PANEL * panel_words + row * PANEL + column % PANEL;
}
uint packed_element4(const uint column4, const uint row, const uint panel4) {
  return column4 / PANEL4 * panel4 + row * PANEL4 + column4 % PANEL4;
}
