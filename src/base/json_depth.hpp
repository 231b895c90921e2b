// How deep a JSON text nests, before a parser sees it.
#pragma once

#include <string_view>

namespace lapilli {

constexpr int kMaxJsonDepth = 64;  // no file of a model is near it

// True if arrays and objects of `text` stand more than kMaxJsonDepth within each other: parsed values are walked
// recursively, and files may hold anything.
bool json_nests_too_deep(std::string_view text);

}  // namespace lapilli
