// The readers behind Checkpoint: take an open file, return checked views.
#pragma once

#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/checkpoint.hpp"

namespace lapilli {

// Tensors in file order; StoredTensor::file is left 0.
Result<std::vector<StoredTensor>> read_safetensors(const File& file);

enum class PytorchForm { none, zip, stream };
// Decides by the first bytes.
Result<PytorchForm> pytorch_form(const File& file);
Result<std::vector<StoredTensor>> read_pytorch(const File& file);

// Sets the tensor's range in its file, with a view if that is in memory.
void set_range(StoredTensor& tensor, const File& file, uint64_t offset, uint64_t bytes);

// False on overflow or beyond max_stored_rank.
bool count_elements(const std::vector<uint64_t>& shape, uint64_t& elements);
std::vector<uint64_t> row_major_strides(const std::vector<uint64_t>& shape);

}  // namespace lapilli
