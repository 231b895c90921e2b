// A model's description as `lapilli inspect` prints it for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lapilli::tools {

// `json`: what `lapilli inspect --json` prints.
std::string inspect_table(const nlohmann::ordered_json& json);

}  // namespace lapilli::tools
