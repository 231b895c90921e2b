// Settings per task that a model's config.json may hold ("task_specific_params"): what BART, T5 and their like were
// trained to be given for a summary or a translation.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "formats/generation_config.hpp"

namespace lapilli {

struct TaskParams {
  std::string name;          // "summarization", "translation_en_to_fr"
  std::string prefix;        // of every input
  GenerationConfig options;  // unknown ones are left out
};

// Of config.json's content; none if it has none. `where` stands for the file in messages.
Result<std::vector<TaskParams>> read_task_params(const nlohmann::json& config, const std::string& where);

}  // namespace lapilli
