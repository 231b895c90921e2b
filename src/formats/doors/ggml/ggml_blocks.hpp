// Tensors of ggml's block formats, converted while they are read, block by block, so that no copy of a model is made.
//
// q8_0, q5_0 and q4_0 hold whole numbers and a scale for each 32 depths, as the runtime's int8 does: they become rows
// of its words, each block a scale (a float) and 32 bytes. q5_1 and q4_1 have a minimum besides, which int8 has not and
// int4 would round: they become floats, exactly, and --dtype fp16 halves them on the device.
#pragma once

#include <cstddef>

#include "formats/doors/ggml/ggml_file.hpp"
#include "formats/doors/made_tensor.hpp"

namespace lapilli::doors {

// Whole numbers and scales, or floats.
constexpr bool becomes_int8(GgmlType type) {
  return type == GgmlType::q8_0 || type == GgmlType::q5_0 || type == GgmlType::q4_0;
}

// A block of the file, and the bytes that it becomes: ggml_made_bytes(type) of them.
uint64_t ggml_made_bytes(GgmlType type);
// False if scale or minimum is no finite number.
bool convert_block(GgmlType type, const std::byte* block, std::byte* made);

// The bytes of the converted tensor, made row by row.
ReadBytes converted(const GgmlFile& from, const GgmlTensor& tensor);

}  // namespace lapilli::doors
