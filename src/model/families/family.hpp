// A family: the mapping of a published directory's config.json to a Config, and its tensors' names. One file per
// family, one line in list.inc; no graph code.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

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
// The model type of a file that does not say it, by the reference's class ("BertForMaskedLM") or by a tensor's name
// ("bert.embeddings.word_embeddings.weight"). Empty: both leave it open.
std::string type_of_class(std::string_view name);
std::string type_of_tensor(std::string_view name);
// "marian, ...", for messages.
std::string family_list();

}  // namespace lapilli::model
