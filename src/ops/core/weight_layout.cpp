#include "ops/core/weight_layout.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/half.hpp"

namespace lapilli {

const char* name(WeightFormat format) {
  constexpr const char* kNames[] = {"fp32", "bf16", "fp16", "int8", "int4"};
  return kNames[static_cast<uint32_t>(format)];
}

Result<std::optional<WeightFormat>> parse_format(const std::string& text) {
  if (text == "auto") return std::optional<WeightFormat>();
  for (uint32_t f = 0; f <= static_cast<uint32_t>(kLastWeightFormat); ++f)
    if (text == name(static_cast<WeightFormat>(f))) return std::optional(static_cast<WeightFormat>(f));
  return fail(ErrorCode::invalid_argument, "there is no dtype \"%s\"; give auto, fp32, bf16, fp16, int8 or int4", text);
}

uint32_t weight_bits(WeightFormat format, float value) {
  switch (format) {
    case WeightFormat::bf16: return float_to_bfloat16(value);
    case WeightFormat::fp16: return float_to_half(value);
    case WeightFormat::int8:
    case WeightFormat::int4:
    case WeightFormat::fp32: break;
  }
  return std::bit_cast<uint32_t>(value);
}

float weight_value(WeightFormat format, uint32_t bits) {
  switch (format) {
    case WeightFormat::bf16: return bfloat16_to_float(static_cast<uint16_t>(bits));
    case WeightFormat::fp16: return half_to_float(static_cast<uint16_t>(bits));
    case WeightFormat::int8:
    case WeightFormat::int4:
    case WeightFormat::fp32: break;
  }
  return std::bit_cast<float>(bits);
}

namespace {
constexpr uint32_t kUpper = 0xffff0000u;
float bits_as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
}  // namespace

// Uses products and differences alone, which every device rounds alike, unlike quotients.
namespace narrow {

constexpr float kLeastScaled = 0x1p-100f;
constexpr uint32_t kLargestBf16 = 0x7f7f, kSign = 0x8000;

float scale_of(float largest) { return largest < kLeastScaled ? 0.0f : largest * (1 / 127.0f); }

static uint32_t bf16_away(uint32_t bits) { return (bits >> 16) + ((bits & 0xffffu) != 0 ? 1u : 0u); }
uint32_t bf16_below(uint32_t bits) {
  return (bits >> 31) != 0 ? std::min(bf16_away(bits), kSign | kLargestBf16) : bits >> 16;
}
uint32_t bf16_above(uint32_t bits) { return std::min(bf16_away(bits), kLargestBf16); }

uint32_t minimum_bits(float lowest) {
  return std::abs(lowest) < kLeastScaled ? 0 : bf16_below(std::bit_cast<uint32_t>(lowest));
}
// Sixteenths are exact, and their difference is finite.
uint32_t range_bits(float highest, float minimum) {
  const float sixteenth = highest / 16 - minimum / 16;
  return sixteenth < kLeastScaled ? 0 : bf16_above(std::bit_cast<uint32_t>(sixteenth * (16.0f / 15.0f)));
}

// The only number q for which (q - 1/2) * scale <= size < (q + 1/2) * scale, at most `most`.
float steps_of(float size, float scale, float most) {
  if (!(scale > 0.0f) || !(size < INFINITY)) return 0;
  float q = std::min(std::floor(size / scale + 0.5f), most);
  while (q < most && (q + 0.5f) * scale <= size) q += 1;
  while (q > 0 && (q - 0.5f) * scale > size) q -= 1;
  return q;
}

}  // namespace narrow

uint32_t scales_of(WeightFormat format, float lowest, float highest) {
  if (format == WeightFormat::int8)
    return std::bit_cast<uint32_t>(narrow::scale_of(std::max(std::abs(lowest), std::abs(highest))));
  const uint32_t minimum = narrow::minimum_bits(lowest);
  return minimum << 16 | narrow::range_bits(highest, bits_as_float(minimum << 16));
}

uint32_t scaled_bits(WeightFormat format, float value, uint32_t scales) {
  if (format == WeightFormat::int8) {
    const float q = narrow::steps_of(std::abs(value), bits_as_float(scales), 127);
    return static_cast<uint32_t>(static_cast<int32_t>(value < 0 ? -q : q)) & 0xffu;
  }
  const float size = value / 16 - bits_as_float(scales & kUpper) / 16;
  return static_cast<uint32_t>(narrow::steps_of(std::max(size, 0.0f), bits_as_float(scales << 16) / 16, 15));
}

double scaled_value(WeightFormat format, uint32_t bits, uint32_t scales) {
  if (format == WeightFormat::int8)
    return static_cast<int8_t>(static_cast<uint8_t>(bits)) * static_cast<double>(bits_as_float(scales));
  return (bits & 15u) * static_cast<double>(bits_as_float(scales << 16)) +
         static_cast<double>(bits_as_float(scales & kUpper));
}

namespace {

// Packs the block of a row that begins at `begin`.
void pack_block(WeightFormat format, std::span<const float> numbers, uint64_t begin, std::span<uint32_t> words) {
  const auto block = numbers.subspan(begin, std::min<uint64_t>(packed::kBlock, numbers.size() - begin));
  const auto [lowest, highest] = std::minmax_element(block.begin(), block.end());
  const uint32_t scales = scales_of(format, *lowest, *highest);
  words[packed::granule_row(format, begin)] = scales;
  for (uint64_t k = begin; k < begin + block.size(); ++k)
    words[packed::depth_row(format, k)] |= scaled_bits(format, numbers[k], scales) << packed::shift(format, k);
}

double unpacked(const WeightLayout& layout, uint64_t column, uint64_t k, std::span<const uint32_t> words) {
  const uint32_t bits = words[layout.word(column, k)] >> layout.shift(k);
  return packed::has_scales(layout.format) ? scaled_value(layout.format, bits, words[layout.scale_word(column, k)])
                                           : static_cast<double>(weight_value(layout.format, bits));
}

}  // namespace

void pack_row(WeightFormat format, std::span<const float> numbers, std::span<uint32_t> words) {
  std::fill(words.begin(), words.end(), 0u);
  if (packed::has_scales(format)) {
    for (uint64_t k = 0; k < numbers.size(); k += packed::kBlock) pack_block(format, numbers, k, words);
    return;
  }
  for (uint64_t k = 0; k < numbers.size(); ++k)
    words[packed::depth_row(format, k)] |= weight_bits(format, numbers[k]) << packed::shift(format, k);
}

std::vector<uint32_t> pack_words(const WeightLayout& layout, std::span<const float> fp32) {
  const WeightLayout from(layout.n, layout.k);
  std::vector<uint32_t> words(layout.words(), 0), row(packed::row_words(layout.format, layout.k));
  std::vector<float> numbers(layout.k);
  for (uint64_t c = 0; c < layout.n; ++c) {
    for (uint64_t k = 0; k < layout.k; ++k) numbers[k] = fp32[from.word(c, k)];
    pack_row(layout.format, numbers, row);
    for (uint64_t r = 0; r < row.size(); ++r) words[packed::element(c, r, layout.panel_words())] = row[r];
    words[layout.bias_word(c)] = std::bit_cast<uint32_t>(fp32[from.bias_word(c)]);
  }
  return words;
}

std::vector<double> unpack_words(const WeightLayout& layout, std::span<const uint32_t> words) {
  const WeightLayout to(layout.n, layout.k);
  std::vector<double> values(to.words(), 0.0);
  for (uint64_t c = 0; c < layout.n; ++c) {
    for (uint64_t k = 0; k < layout.k; ++k) values[to.word(c, k)] = unpacked(layout, c, k, words);
    values[to.bias_word(c)] = static_cast<double>(std::bit_cast<float>(words[layout.bias_word(c)]));
  }
  return values;
}

}  // namespace lapilli
