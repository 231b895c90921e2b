// The readers behind Checkpoint: one mapped file in, checked views out.
#pragma once

#include <string>
#include <vector>

#include "base/mapped_file.hpp"
#include "base/result.hpp"
#include "formats/checkpoint.hpp"

namespace lapilli {

// Tensors in the file's order; StoredTensor::file is left 0.
Result<std::vector<StoredTensor>> read_safetensors(const MappedFile& file);

enum class PytorchForm { none, zip, stream };
// By the first bytes.
PytorchForm pytorch_form(const MappedFile& file);
Result<std::vector<StoredTensor>> read_pytorch(const MappedFile& file);

// False on overflow, or beyond max_stored_rank.
bool count_elements(const std::vector<uint64_t>& shape, uint64_t& elements);
std::vector<uint64_t> row_major_strides(const std::vector<uint64_t>& shape);

}  // namespace lapilli
