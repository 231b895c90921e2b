// Nesting depth of a JSON text, checked before it is parsed.
#pragma once

#include <string_view>

namespace lapilli {

constexpr int kMaxJsonDepth = 64;  // far above any file of a model

// True if arrays and objects of `text` nest deeper than kMaxJsonDepth: parsed values are walked recursively, and files
// may hold anything.
bool json_nests_too_deep(std::string_view text);

}  // namespace lapilli
