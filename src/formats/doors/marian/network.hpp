// From Marian's parameters to the tensors and the config.json of the family "marian_nmt".
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/doors/made_tensor.hpp"
#include "formats/doors/marian/parameters.hpp"
#include "formats/doors/marian/settings.hpp"

namespace lapilli::doors::marian {

struct Mapped {
  nlohmann::json config = nlohmann::json::object();
  std::vector<MadeTensor> tensors;
  uint64_t source_ids = 0, target_ids = 0;  // of the vocabularies; the network has one more, which starts the decoder
  bool shared = false;                      // one table for both
  bool scaled = false;                      // 8-bit tables and layers
  std::vector<std::string> unused;          // parameters without a meaning here
};

// Refuses with all reasons at once; `where` names the file.
Result<Mapped> map_network(const Parameters& parameters, const Settings& settings, const std::string& where);

}  // namespace lapilli::doors::marian
