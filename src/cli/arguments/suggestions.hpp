// Suggestions for mistyped names.
#pragma once

#include <string>
#include <vector>

namespace lapilli::cli {

// The one of `names` that is closest to `typed` (letters left out, added, changed or swapped, or an end left out); ""
// if none is close.
std::string nearest(const std::string& typed, const std::vector<std::string>& names);

// "; did you mean NAME?", or "" if no name is close.
std::string did_you_mean(const std::string& typed, const std::vector<std::string>& names);

}  // namespace lapilli::cli
