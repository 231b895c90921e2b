// A family: the mapping of a published directory's config.json to a Config, and its tensors' names. One file per
// family, one line in list.inc; no graph code.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.hpp"
#include "model/config.hpp"

namespace lapilli::model {

struct Family {
  const char* model_type;  // config.json's model_type
  const char* description;
  Result<Config> (*config)(const nlohmann::json& json, const std::string& where);
  Names (*names)(const Config& config);
};

// Null if the type is unknown.
const Family* find_family(const std::string& model_type);
// "marian, ...", for messages.
std::string family_list();

}  // namespace lapilli::model
