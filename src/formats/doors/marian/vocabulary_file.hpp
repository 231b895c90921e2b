// Marian's vocabularies in YAML: a line with a piece and its id for each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli::doors::marian {

// The pieces by their ids, which count from 0. Keys are texts, whatever they look like ("true", "12"). Refuses ids that
// are missing or there twice, and anchors. `where` names the file.
Result<std::vector<std::string>> parse_vocabulary(std::string_view text, const std::string& where);
Result<std::vector<std::string>> read_vocabulary(const FileName& file);

}  // namespace lapilli::doors::marian
