#include "ops/weight_layout.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/half.hpp"

namespace lapilli {

const char* name(WeightFormat format) {
  constexpr const char* kNames[] = {"fp32", "bf16", "fp16", "int8"};
  return kNames[static_cast<uint32_t>(format)];
}

Result<std::optional<WeightFormat>> parse_format(const std::string& text) {
  if (text == "auto") return std::optional<WeightFormat>();
  for (uint32_t f = 0; f <= static_cast<uint32_t>(kLastWeightFormat); ++f)
    if (text == name(static_cast<WeightFormat>(f))) return std::optional(static_cast<WeightFormat>(f));
  return fail(ErrorCode::invalid_argument, "there is no dtype \"%s\"; give auto, fp32, bf16, fp16 or int8",
              text.c_str());
}

uint32_t weight_bits(WeightFormat format, float value) {
  switch (format) {
    case WeightFormat::bf16: return float_to_bfloat16(value);
    case WeightFormat::fp16: return float_to_half(value);
    case WeightFormat::int8:
    case WeightFormat::fp32: break;
  }
  return std::bit_cast<uint32_t>(value);
}

float weight_value(WeightFormat format, uint32_t bits) {
  switch (format) {
    case WeightFormat::bf16: return bfloat16_to_float(static_cast<uint16_t>(bits));
    case WeightFormat::fp16: return half_to_float(static_cast<uint16_t>(bits));
    case WeightFormat::int8:
    case WeightFormat::fp32: break;
  }
  return std::bit_cast<float>(bits);
}

namespace {
constexpr float kLargestScaled = 127, kLeastScaled = 0x1p-100f;
}  // namespace

float scale_of(float largest) { return largest < kLeastScaled ? 0.0f : largest * (1 / kLargestScaled); }

// By products alone, which every device rounds alike, whatever its quotients are: the one number q for which
// (q - 1/2) * scale <= |value| < (q + 1/2) * scale.
uint32_t scaled_bits(float value, float scale) {
  const float size = std::abs(value);
  if (!(scale > 0.0f) || !(size < INFINITY)) return 0;
  float q = std::min(std::floor(size / scale + 0.5f), kLargestScaled);
  while (q < kLargestScaled && (q + 0.5f) * scale <= size) q += 1;
  while (q > 0 && (q - 0.5f) * scale > size) q -= 1;
  return static_cast<uint32_t>(static_cast<int32_t>(value < 0 ? -q : q)) & 0xffu;
}

float scaled_value(uint32_t bits, float scale) {
  return static_cast<float>(static_cast<int8_t>(static_cast<uint8_t>(bits))) * scale;
}

namespace {

// A block of a column.
void pack_block(const WeightLayout& layout, uint64_t column, uint64_t begin, std::span<const float> fp32,
                std::vector<uint32_t>& words) {
  const WeightLayout from(layout.n, layout.k);
  const uint64_t end = std::min(begin + packed::kBlock, layout.k);
  float largest = 0;
  for (uint64_t k = begin; k < end; ++k) largest = std::max(largest, std::abs(fp32[from.word(column, k)]));
  const float scale = scale_of(largest);
  words[layout.scale_word(column, begin)] = std::bit_cast<uint32_t>(scale);
  for (uint64_t k = begin; k < end; ++k)
    words[layout.word(column, k)] |= scaled_bits(fp32[from.word(column, k)], scale) << layout.shift(k);
}

float unpacked(const WeightLayout& layout, uint64_t column, uint64_t k, std::span<const uint32_t> words) {
  const uint32_t bits = words[layout.word(column, k)] >> layout.shift(k);
  return packed::has_scales(layout.format)
             ? scaled_value(bits, std::bit_cast<float>(words[layout.scale_word(column, k)]))
             : weight_value(layout.format, bits);
}

}  // namespace

std::vector<uint32_t> pack_words(const WeightLayout& layout, std::span<const float> fp32) {
  const WeightLayout from(layout.n, layout.k);
  std::vector<uint32_t> words(layout.words(), 0);
  for (uint64_t c = 0; c < layout.n; ++c) {
    const bool scaled = packed::has_scales(layout.format);
    for (uint64_t k = 0; scaled && k < layout.k; k += packed::kBlock) pack_block(layout, c, k, fp32, words);
    for (uint64_t k = 0; !scaled && k < layout.k; ++k)
      words[layout.word(c, k)] |= weight_bits(layout.format, fp32[from.word(c, k)]) << layout.shift(k);
    words[layout.bias_word(c)] = std::bit_cast<uint32_t>(fp32[from.bias_word(c)]);
  }
  return words;
}

std::vector<double> unpack_words(const WeightLayout& layout, std::span<const uint32_t> words) {
  const WeightLayout to(layout.n, layout.k);
  std::vector<double> values(to.words(), 0.0);
  for (uint64_t c = 0; c < layout.n; ++c) {
    for (uint64_t k = 0; k < layout.k; ++k) values[to.word(c, k)] = static_cast<double>(unpacked(layout, c, k, words));
    values[to.bias_word(c)] = static_cast<double>(std::bit_cast<float>(words[layout.bias_word(c)]));
  }
  return values;
}

}  // namespace lapilli
