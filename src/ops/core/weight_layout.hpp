// Layout of a matrix in a weight tensor (one row of words): panels of 32 columns, each as deep as the matrix (rounded
// up to 4), padded with zeros; after all panels the bias in floats, 32 words per panel (zeros without a bias). A row of
// a panel is 32 words, one per column; a word holds as many depths of its column as the format packs into it, the first
// in its low bits. int8: a row of scales (floats), then 32 depths of integers from -127 to 127 that the scales
// multiply; the next 32 depths follow with their own row of scales. int4: the same with integers from 0 to 15, where a
// word of the scales' row holds a scale (low half) and a minimum (high half), which is added. Both are bf16, which
// covers the whole range of floats and which every driver reads alike, by a shift; rounding them costs less than a
// step, since the minimum is rounded down and the scale up. A slice of columns at panel boundaries is therefore
// contiguous (tables larger than a binding are bound in parts), 32 words are a pair of cache lines, and a lane that
// loads four columns gets two depths of them at 16 bits, eight at 4. Kernels take the layout from
// shaders/lib/panel.glsl; a test compares the two.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/math.hpp"
#include "base/result.hpp"
#include "graph/graph.hpp"

namespace lapilli {

// The values match shaders/lib/panel.glsl.
enum class WeightFormat : uint32_t { fp32, bf16, fp16, int8, int4 };
constexpr WeightFormat kLastWeightFormat = WeightFormat::int4;
const char* name(WeightFormat format);  // "bf16"
// Parses the name of a format; none: "auto".
Result<std::optional<WeightFormat>> parse_format(const std::string& text);

// The format of a packed matrix is its tensor's type.
constexpr graph::DType dtype_of(WeightFormat format) {
  using graph::DType;
  constexpr DType kTypes[] = {DType::f32, DType::bf16, DType::f16, DType::i8, DType::i4};
  return kTypes[static_cast<uint32_t>(format)];
}
constexpr WeightFormat format_of(graph::DType dtype) {
  return dtype == graph::DType::bf16  ? WeightFormat::bf16
         : dtype == graph::DType::f16 ? WeightFormat::fp16
         : dtype == graph::DType::i8  ? WeightFormat::int8
         : dtype == graph::DType::i4  ? WeightFormat::int4
                                      : WeightFormat::fp32;
}

namespace packed {
constexpr uint64_t kPanel = 32;
constexpr uint64_t panels(uint64_t n) { return div_up(n, kPanel); }
constexpr uint64_t depth(uint64_t k) { return round_up<uint64_t>(k, 4); }
constexpr uint64_t kBlock = 32;  // depths that share a scale
constexpr bool has_scales(WeightFormat format) { return format == WeightFormat::int8 || format == WeightFormat::int4; }
constexpr uint64_t depths_a_word(WeightFormat format) {
  constexpr uint64_t kDepths[] = {1, 2, 2, 4, 8};
  return kDepths[static_cast<uint32_t>(format)];
}
// A slice of the depth, or a part that is packed separately, begins at a multiple of this.
constexpr uint64_t granule(WeightFormat format) { return has_scales(format) ? kBlock : depths_a_word(format); }
// The row of words that holds a depth, and the first row of its granule, which holds its scale if there is one.
constexpr uint64_t depth_row(WeightFormat format, uint64_t depth) {
  return depth / depths_a_word(format) + (has_scales(format) ? depth / kBlock + 1 : 0);
}
constexpr uint64_t granule_row(WeightFormat format, uint64_t depth) {
  return has_scales(format) ? depth / kBlock * (kBlock / depths_a_word(format) + 1) : depth / depths_a_word(format);
}
// Rows of words for this many depths, in whole granules or up to the end.
constexpr uint64_t rows_of(WeightFormat format, uint64_t depths) {
  return div_up(depths, depths_a_word(format)) + (has_scales(format) ? div_up(depths, kBlock) : 0);
}
// Words of a column, which are contiguous where a row of the stored matrix is packed separately.
constexpr uint64_t row_words(WeightFormat format, uint64_t k) { return rows_of(format, k); }
// The word of a column in a row of words, given the words per panel.
constexpr uint64_t element(uint64_t column, uint64_t row, uint64_t words_a_panel) {
  return column / kPanel * words_a_panel + row * kPanel + column % kPanel;
}
// The right shift that extracts a depth from its word.
constexpr uint64_t shift(WeightFormat format, uint64_t depth) {
  return depth % depths_a_word(format) * (32 / depths_a_word(format));
}
}  // namespace packed

struct WeightLayout {
  uint64_t n = 0, k = 0;  // columns and depth
  WeightFormat format = WeightFormat::fp32;

  constexpr WeightLayout(uint64_t columns, uint64_t depth, WeightFormat f = WeightFormat::fp32)
      : n(columns), k(depth), format(f) {}
  // The layout in a tensor that holds it.
  constexpr WeightLayout(uint64_t columns, uint64_t depth, const graph::Tensor& t)
      : WeightLayout(columns, depth, format_of(t.dtype)) {}

  [[nodiscard]] constexpr uint64_t depths_a_word() const { return packed::depths_a_word(format); }
  [[nodiscard]] constexpr uint64_t panels() const { return packed::panels(n); }
  // Words of a panel down to `depth`, in whole granules or up to the end.
  [[nodiscard]] constexpr uint64_t words_to(uint64_t depth) const {
    return packed::rows_of(format, depth) * packed::kPanel;
  }
  [[nodiscard]] constexpr uint64_t panel_words() const { return words_to(packed::depth(k)); }
  [[nodiscard]] constexpr uint64_t bias_begin() const { return panels() * panel_words(); }
  [[nodiscard]] constexpr uint64_t words() const { return bias_begin() + panels() * packed::kPanel; }
  [[nodiscard]] constexpr uint64_t word(uint64_t column, uint64_t depth) const {
    return packed::element(column, packed::depth_row(format, depth), panel_words());
  }
  [[nodiscard]] constexpr uint64_t scale_word(uint64_t column, uint64_t depth) const {
    return packed::element(column, packed::granule_row(format, depth), panel_words());
  }
  [[nodiscard]] constexpr uint64_t shift(uint64_t depth) const { return packed::shift(format, depth); }
  [[nodiscard]] constexpr uint64_t bias_word(uint64_t column) const { return bias_begin() + column; }
};

// The bits of a number in a format without scales, rounded to nearest even, and the reverse.
uint32_t weight_bits(WeightFormat format, float value);
float weight_value(WeightFormat format, uint32_t bits);
// The scales word for numbers from `lowest` to `highest`, and the bits of one of them: the nearest multiple of the
// scale (for int4, of the distance above the minimum), rounding half up.
uint32_t scales_of(WeightFormat format, float lowest, float highest);
uint32_t scaled_bits(WeightFormat format, float value, uint32_t scales);
double scaled_value(WeightFormat format, uint32_t bits, uint32_t scales);

// Building blocks of the above, mirrored by shaders/lib/narrow.glsl.
namespace narrow {
float scale_of(float largest);                      // for int8
uint32_t bf16_below(uint32_t bits);                 // nearest bf16 not above a float's bits; never infinite
uint32_t bf16_above(uint32_t bits);                 // nearest bf16 not below a positive float
uint32_t minimum_bits(float lowest);                // for int4; 0 for a tiny minimum
uint32_t range_bits(float highest, float minimum);  // a fifteenth of the range above the minimum
float steps_of(float size, float scale, float most);
}  // namespace narrow

// Packs one column (packed::row_words words) from its numbers.
void pack_row(WeightFormat format, std::span<const float> numbers, std::span<uint32_t> words);
// Packs a matrix in fp32's layout into the words of `layout`.
std::vector<uint32_t> pack_words(const WeightLayout& layout, std::span<const float> fp32);
// Unpacks words to numbers in fp32's layout.
std::vector<double> unpack_words(const WeightLayout& layout, std::span<const uint32_t> words);

}  // namespace lapilli
