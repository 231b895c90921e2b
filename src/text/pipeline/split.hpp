// Splitting text at delimiters. A text is a sequence of stretches: delimiters, and the text between them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "text/pipeline/pre_tokenizers.hpp"
#include "text/unicode/regex.hpp"

namespace lapilli {

struct Stretch {
  size_t begin = 0;
  size_t end = 0;
  bool delimiter = false;
};

// Each character that passes `test` is a delimiter of its own.
std::vector<Stretch> character_stretches(std::string_view text, bool (*test)(char32_t));
// Each match is a delimiter; with `invert`, the text between matches.
std::vector<Stretch> match_stretches(const std::vector<Regex::Match>& matches, size_t size, bool invert);
// The words: some stretches are removed, others merged with neighbours.
std::vector<Stretch> split_stretches(std::vector<Stretch> stretches, SplitBehavior behavior);

}  // namespace lapilli
