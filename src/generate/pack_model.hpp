// Writes a published model as a directory with packed matrices, for programs that bring a model along.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/weight_formats.hpp"

namespace lapilli {

struct PackedModel {
  WeightFormat format = WeightFormat::fp32;    // that of the matrices
  uint64_t bytes_before = 0, bytes_after = 0;  // of the tensors
  uint32_t matrices = 0;                       // packed ones; always 0 for fp32
  bool was_packed = false;                     // another program's, which lie in this format already
  std::vector<model::KeptMatrix> kept;         // stay as they are stored
  std::vector<std::string> copied;             // other files
};

// Writes model.safetensors, config.json with a quantization_config (formats/quantization.hpp) and copies of all other
// files without weights. Matrices of int8 and int4 are tensors of words: row r has those of stored row r, as counted by
// packed::row_words; those of bf16 and fp16 are numbers of that type. Every other tensor that the model uses stays as
// it is stored; unused ones are left out. Loading the directory gives the same words as loading the model with this
// dtype. Folders that modules.json names are written as folders, one of which may hold the network; linear layers in
// them are copied as they are, so that beside int8 and int4 they stay in fp32.
// Without a format: in that of the model's own matrices, if all of them are in fp16, bf16 or another program's whole
// numbers; an error else.
Result<PackedModel> pack_model(const std::string& directory, const std::string& output,
                               std::optional<WeightFormat> format);

}  // namespace lapilli
