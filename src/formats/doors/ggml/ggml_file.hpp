// Files of whisper.cpp (ggml-*.bin): sizes, mel filters, tokens and tensors, as they lie in the file.
//
// All numbers are little-endian and 32 bits wide, nothing is aligned. Every count is checked against what is left of
// the file before anything is allocated for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli::doors {

// The numbers are those of the file.
enum class GgmlType : uint32_t { f32 = 0, f16 = 1, q4_0 = 2, q4_1 = 3, q5_0 = 6, q5_1 = 7, q8_0 = 8 };
const char* ggml_type_name(GgmlType type);

// Blocks have this many values of one row.
constexpr uint64_t kGgmlBlock = 32;
constexpr bool has_blocks(GgmlType type) { return type != GgmlType::f32 && type != GgmlType::f16; }
// Bytes of a number, or of a block.
uint64_t ggml_unit_bytes(GgmlType type);

struct GgmlTensor {
  std::string name;
  GgmlType type = GgmlType::f32;
  std::vector<uint64_t> shape;  // the outermost first
  uint64_t offset = 0, bytes = 0;
};

struct GgmlSizes {
  uint32_t vocabulary = 0;
  uint32_t audio_positions = 0, audio_width = 0, audio_heads = 0, audio_layers = 0;
  uint32_t text_positions = 0, text_width = 0, text_heads = 0, text_layers = 0;
  uint32_t mel_bins = 0;
  uint32_t type = 0;  // of most tensors: 0, 1, or 2000 and a number
};

struct GgmlFile {
  File file;
  GgmlSizes sizes;
  uint32_t filter_rows = 0, filter_columns = 0;
  std::vector<float> filters;
  std::vector<std::string> tokens;  // bytes, by id
  std::vector<GgmlTensor> tensors;  // in file order
};

// True if a file that begins with these bytes is one of ggml's.
bool is_ggml(std::string_view head);
Result<GgmlFile> read_ggml(const File& file);

}  // namespace lapilli::doors
