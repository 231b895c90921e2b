#include "cli/run/vector_output.hpp"

#include <bit>
#include <charconv>
#include <string_view>

namespace lapilli::cli {

namespace {

std::optional<VectorFormat> format_by_name(std::string_view name) {
  if (name == "json") return VectorFormat::json;
  if (name == "npy") return VectorFormat::npy;
  if (name == "f32") return VectorFormat::f32;
  return {};
}

}  // namespace

std::optional<VectorFormat> vector_format(const std::string& name, const std::string& output) {
  if (!name.empty()) return format_by_name(name);
  if (output.ends_with(".npy")) return VectorFormat::npy;
  return output.ends_with(".f32") ? VectorFormat::f32 : VectorFormat::json;
}

std::string unwritten_vectors(const std::string& name) {
  constexpr std::string_view kOthers[] = {".npz", ".csv", ".tsv",   ".parquet",     ".pt",  ".pth",
                                          ".bin", ".h5",  ".arrow", ".safetensors", ".pkl", ".mat"};
  for (const std::string_view ending : kOthers)
    if (name.ends_with(ending))
      return "vectors are not written as " + std::string(ending) +
             ": a name that ends in .npy gets an array of NumPy, .f32 numbers alone and .jsonl lines of JSON; "
             "--vectors "
             "says which under any other name";
  return "";
}

std::string vector_json(const std::vector<float>& values) {
  std::string text = "[";
  char number[32];
  for (const float value : values) {
    const auto end = std::to_chars(number, number + sizeof number, value).ptr;
    if (text.size() > 1) text += ',';
    text.append(number, end);
  }
  return text + "]";
}

std::string vector_bytes(const std::vector<float>& values, uint32_t dimensions) {
  std::string bytes;
  for (uint32_t i = 0; i < dimensions; ++i) {
    const auto word = std::bit_cast<uint32_t>(i < values.size() ? values[i] : 0.0f);
    for (uint32_t b = 0; b < 4; ++b) bytes += static_cast<char>(word >> (8 * b) & 0xff);
  }
  return bytes;
}

std::string npy_header(uint64_t rows, uint32_t dimensions) {
  constexpr uint64_t kPrefixBytes = 10;
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(kNpyHeaderBytes - kPrefixBytes);
  header += '\0';
  header += "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
            std::to_string(dimensions) + "), }";
  header.resize(kNpyHeaderBytes - 1, ' ');
  return header + '\n';
}

}  // namespace lapilli::cli
