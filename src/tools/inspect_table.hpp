// A model's description as `lapilli inspect` prints it for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lapilli::tools {

// `json`: the output of `lapilli inspect --json`.
std::string inspect_table(const nlohmann::ordered_json& json);

}  // namespace lapilli::tools
