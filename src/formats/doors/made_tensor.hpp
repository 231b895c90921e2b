// Tensors that a reader of another program's files yields: as they are stored there, or made of what is.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/checkpoint.hpp"

namespace lapilli::doors {

// Fills `to` with the tensor's bytes from `offset` on, which lie within it. Called by one thread at a time.
using ReadBytes = std::function<Status(uint64_t offset, std::span<std::byte> to)>;
// Fills one row, whole.
using MakeRow = std::function<Status(uint64_t row, std::span<std::byte> to)>;

// Contiguous, little-endian. Nothing is read or computed before its bytes are asked for.
struct MadeTensor {
  std::string name;  // of the family that the model equals
  StoredType type = StoredType::f32;
  std::vector<uint64_t> shape;
  ReadBytes read;
};

// The bytes of a file, as they are.
ReadBytes stored_bytes_of(const FileRange& range);
// Values that are there already.
ReadBytes values_of(std::vector<float> values);
// Rows that are made one by one, each when a byte of it is asked for.
ReadBytes rows_of(uint64_t row_bytes, MakeRow make);

// Adds rows of zeros before and behind the tensor's own.
void add_zero_rows(MadeTensor& tensor, uint64_t before, uint64_t behind);
// Exchanges rows and columns of a matrix.
void turn_around(MadeTensor& tensor);

// Matrices of whole numbers with scales, for the runtime's int8: rows of words as "lapilli pack" writes them. Each 32
// depths (the last ones may be fewer) have a word with their scale and a word for each four numbers.
constexpr uint64_t kScaledDepths = 32;
uint64_t scaled_row_words(uint64_t depths);
// Words of one row of numbers; `scales` has one for each 32 depths. The numbers and the bits of the scales stay.
void write_scaled_row(std::span<const int8_t> numbers, std::span<const float> scales, std::span<std::byte> to);

}  // namespace lapilli::doors
