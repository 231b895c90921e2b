#include "formats/task_params.hpp"

#include <nlohmann/json.hpp>

#include "formats/hf_config.hpp"

namespace lapilli {

Result<std::vector<TaskParams>> read_task_params(const nlohmann::json& config, const std::string& where) {
  std::vector<TaskParams> all;
  const auto tasks = config.find("task_specific_params");
  if (tasks == config.end() || tasks->is_null()) return all;
  const std::string key = where + ": task_specific_params";
  if (!tasks->is_object()) return fail(ErrorCode::invalid_data, "%s is no JSON object", key);
  for (const auto& task : tasks->items()) {
    if (!task.value().is_object()) continue;
    TaskParams params;
    params.name = task.key();
    const std::string at = key + "." + task.key();
    LAPILLI_TRY(params.prefix, get_string({task.value(), at}, "prefix", ""));
    LAPILLI_TRY(params.options, parse_generation_config(task.value(), at));
    params.options.unknown.clear();
    params.options.source.clear();
    all.push_back(std::move(params));
  }
  return all;
}

}  // namespace lapilli
