// Results as JSON, one object per text.
#pragma once

#include <string>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

std::string ids_json(const Ids& ids);
// The members of one sequence, without braces: text, score, ids, finish ("end", "length" or "kept"); repeats
// where it is true; token_scores if asked for; pieces if it has several.
std::string sequence_json(const Sequence& sequence, bool token_scores);

}  // namespace lapilli::cli
