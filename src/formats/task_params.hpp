// Settings per task in a model's config.json ("task_specific_params"): the options that BART, T5 and their like were
// trained with for summaries and translations.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "formats/generation_config.hpp"

namespace lapilli {

struct TaskParams {
  std::string name;          // "summarization", "translation_en_to_fr"
  std::string prefix;        // in front of every input
  GenerationConfig options;  // unknown ones are dropped
};

// From the content of config.json; empty if it has none. `where` stands for the file in messages.
Result<std::vector<TaskParams>> read_task_params(const nlohmann::json& config, const std::string& where);

}  // namespace lapilli
