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
  // The use of the models that are published with this network, as the rest of a description; a model of another
  // program may have the same network and another use.
  const char* use = "";
};

// Null if the type is unknown.
const Family* find_family(const std::string& model_type);
// Files of 2018 to 2020 may lack the model type and the reference's class. The type, by the class ("BertForMaskedLM")
// or by a tensor's name ("bert.embeddings.word_embeddings.weight"), and the class, by the type and the name of a tensor
// that only this class has. Empty: these leave it open.
std::string type_of_class(std::string_view name);
std::string type_of_tensor(std::string_view name);
std::string class_of_tensor(std::string_view type, std::string_view name);
// "marian, ...", for messages.
std::string family_list();

}  // namespace lapilli::model
