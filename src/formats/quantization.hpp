// The quantization_config of a config.json: what "lapilli pack" wrote, or what others did, which is refused by name.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "formats/hf_config.hpp"

namespace lapilli {

struct Quantization {
  std::string dtype;  // "int8"
  // Names of tensors that are not stored, and of those that hold their values.
  std::vector<std::pair<std::string, std::string>> tied;
};

// Nothing where there is none. Files that another tool quantized are refused, with its name and what to do.
Result<std::optional<Quantization>> read_quantization(const JsonView& config);
// What read_quantization() reads.
nlohmann::ordered_json quantization_json(const Quantization& quantization);

}  // namespace lapilli
