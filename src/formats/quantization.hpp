// The quantization_config of a config.json: written by "lapilli pack"; those of other tools are refused by name.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/hf_config.hpp"

namespace lapilli {

struct Quantization {
  std::string dtype;  // "int8"
  // Names of tensors that are not stored, each with the name of the tensor that holds its values.
  std::vector<std::pair<std::string, std::string>> tied;
};

// Nothing if there is none. Files quantized by another tool are refused, naming it and what to do.
Result<std::optional<Quantization>> read_quantization(const JsonView& config);
// Fails: the weights were quantized by this tool ("gptq"), as `where` shows.
Status quantized_by(const FileName& where, const std::string& method);
// The inverse of read_quantization().
nlohmann::ordered_json quantization_json(const Quantization& quantization);

}  // namespace lapilli
