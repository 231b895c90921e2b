// A model's description as `lapilli inspect` prints it for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lapilli::tools {

// `described`: what `lapilli inspect --json` prints.
std::string inspect_table(const nlohmann::ordered_json& described);

}  // namespace lapilli::tools
