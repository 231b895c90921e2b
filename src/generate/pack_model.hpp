// A published model as a directory whose matrices are packed: for programs that bring a model along.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/weight_formats.hpp"

namespace lapilli {

struct PackedModel {
  uint64_t bytes_before = 0, bytes_after = 0;  // of the tensors
  uint32_t matrices = 0;                       // that are packed; of fp32 among them none
  std::vector<model::KeptMatrix> kept;         // that stay as they are stored
  std::vector<std::string> copied;             // other files
};

// Writes model.safetensors, config.json with a quantization_config (formats/quantization.hpp) and copies of all other
// files that hold no weights. Matrices of int8 and int4 are tensors of words: row r has those of stored row r, as
// packed::row_words counts them; of bf16 and fp16 they are numbers of that type. Every other tensor that the model uses
// stays as it is stored; those that it does not use are left out. Loading the directory gives the very words that
// loading the model with this dtype gives.
Result<PackedModel> pack_model(const std::string& directory, const std::string& output, WeightFormat format);

}  // namespace lapilli
