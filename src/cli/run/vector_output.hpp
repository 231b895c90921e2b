// Vectors of texts as JSON, as a .npy file (NEP 1, version 1.0) or as raw numbers of 32 bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lapilli::cli {

enum class VectorFormat : uint8_t { json, npy, f32 };

// By its name in --vectors, or by the ending of the output's name; JSON otherwise.
std::optional<VectorFormat> vector_format(const std::string& name, const std::string& output);

// Why no vectors are written under a name with the ending of another format; "": they may be.
std::string unwritten_vectors(const std::string& name);

// "[0.12,-1.5]": each number with the fewest digits that give the same float.
std::string vector_json(const std::vector<float>& values);
// The bytes of the numbers, the lowest first; zeros for a row without a vector.
std::string vector_bytes(const std::vector<float>& values, uint32_t dimensions);
// The header of a .npy file of so many rows; its size does not depend on them.
std::string npy_header(uint64_t rows, uint32_t dimensions);
inline constexpr uint64_t kNpyHeaderBytes = 128;

}  // namespace lapilli::cli
