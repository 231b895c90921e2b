// Results as JSON, one object per text.
#pragma once

#include <string>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

std::string ids_json(const Ids& ids);
// The members of one sequence, without braces: text, score, ids, finish ("stop", "length" or "kept"); repeats if true;
// token_scores on request; pieces if there are several.
std::string sequence_json(const Sequence& sequence, const std::string& text, bool token_scores);

}  // namespace lapilli::cli
