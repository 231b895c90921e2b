// The table of docs/use/models.md: what a run over recorded folders came to, a row per family.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.hpp"

namespace lapilli::conformance {

// The subject of a recorded case: "forward", "greedy", "beam", "processors" (a search with any logits processor),
// "trace", "score" or "text".
std::string case_group(const nlohmann::json& c);

// Markdown of a report's cases (the "cases" of the program's JSON): a row per family, then the tokenizers of none.
std::string models_table(const nlohmann::json& cases);

// The file holds a table between two comment lines; the text around it stays. write_table() puts this one there.
// check_table() compares: all that depends on the driver, deviations and shares of tolerances, may differ. The error
// shows the first line that does not and says how to write the table anew.
Status write_table(const std::string& path, const std::string& table);
Status check_table(const std::string& path, const std::string& table);

}  // namespace lapilli::conformance
