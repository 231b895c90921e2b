#include "formats/doors/ggml/ggml_blocks.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include "base/half.hpp"
#include "formats/quote.hpp"

namespace lapilli::doors {

namespace {

template <class T>
T load_at(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

using Numbers = std::array<int32_t, kGgmlBlock>;

// Byte j holds value j in its low half and value j + 16 in its high one.
Numbers nibbles(const std::byte* bytes) {
  Numbers q{};
  for (size_t j = 0; j < kGgmlBlock / 2; ++j) {
    q[j] = std::to_integer<int32_t>(bytes[j] & std::byte{15});
    q[j + kGgmlBlock / 2] = std::to_integer<int32_t>(bytes[j] >> 4);
  }
  return q;
}

// Four bits each, and a fifth in a word before them.
Numbers five_bits(const std::byte* bytes) {
  const auto high = load_at<uint32_t>(bytes);
  Numbers q = nibbles(bytes + 4);
  for (size_t j = 0; j < kGgmlBlock; ++j) q[j] |= static_cast<int32_t>(high >> j & 1u) << 4;
  return q;
}

Numbers bytes_of_block(const std::byte* bytes) {
  Numbers q{};
  for (size_t j = 0; j < kGgmlBlock; ++j) q[j] = static_cast<int8_t>(std::to_integer<uint8_t>(bytes[j]));
  return q;
}

Numbers whole_numbers(GgmlType type, const std::byte* block) {
  if (type == GgmlType::q8_0) return bytes_of_block(block + 2);
  const bool five = type == GgmlType::q5_0;
  Numbers q = five ? five_bits(block + 2) : nibbles(block + 2);
  for (int32_t& n : q) n -= five ? 16 : 8;
  return q;
}

bool make_int8(GgmlType type, const std::byte* block, std::byte* made) {
  const float scale = half_to_float(load_at<uint16_t>(block));
  std::memcpy(made, &scale, sizeof scale);
  const Numbers q = whole_numbers(type, block);
  for (size_t j = 0; j < kGgmlBlock; ++j) made[4 + j] = static_cast<std::byte>(static_cast<uint8_t>(q[j]));
  return std::isfinite(scale);
}

// Whole numbers of five bits times a half are exact, so that one rounding is all there is, with or without fma.
bool make_floats(GgmlType type, const std::byte* block, std::byte* made) {
  const float scale = half_to_float(load_at<uint16_t>(block)), least = half_to_float(load_at<uint16_t>(block + 2));
  const Numbers q = type == GgmlType::q5_1 ? five_bits(block + 4) : nibbles(block + 4);
  for (size_t j = 0; j < kGgmlBlock; ++j) {
    const float value = static_cast<float>(q[j]) * scale + least;
    std::memcpy(made + sizeof value * j, &value, sizeof value);
  }
  return std::isfinite(scale) && std::isfinite(least);
}

Failure no_numbers(const File& file, const GgmlTensor& tensor, uint64_t at) {
  return fail(ErrorCode::invalid_data,
              "%s: tensor %s holds values that are no finite numbers (in the block at byte %u); the file is damaged",
              file.path(), quote_name(tensor.name), at);
}

}  // namespace

uint64_t ggml_made_bytes(GgmlType type) { return becomes_int8(type) ? 4 + kGgmlBlock : 4 * kGgmlBlock; }

bool convert_block(GgmlType type, const std::byte* block, std::byte* made) {
  return becomes_int8(type) ? make_int8(type, block, made) : make_floats(type, block, made);
}

ReadBytes converted(const GgmlFile& from, const GgmlTensor& tensor) {
  const uint64_t unit = ggml_unit_bytes(tensor.type), made = ggml_made_bytes(tensor.type);
  const uint64_t blocks = tensor.shape.back() / kGgmlBlock;  // of a row
  const auto row_of = [file = from.file, tensor, unit, made, blocks](uint64_t row, std::span<std::byte> to) -> Status {
    const uint64_t at = tensor.offset + row * blocks * unit;
    LAPILLI_TRY(const auto stored, file.read_some(at, blocks * unit));
    for (uint64_t i = 0; i < blocks; ++i)
      if (!convert_block(tensor.type, stored.data() + i * unit, to.data() + i * made))
        return no_numbers(file, tensor, at + i * unit);
    return {};
  };
  return rows_of(blocks * made, row_of);
}

}  // namespace lapilli::doors
