// What somebody may have meant who mistyped a name.
#pragma once

#include <string>
#include <vector>

namespace lapilli::cli {

// The one of `names` that is nearest to `typed` (letters left out, added, changed or swapped, or an end left out);
// "" if none is near.
std::string nearest(const std::string& typed, const std::vector<std::string>& names);

// "; did you mean NAME?", or "" if no name is near.
std::string did_you_mean(const std::string& typed, const std::vector<std::string>& names);

}  // namespace lapilli::cli
