// Moses' tokenizer for texts with words between spaces, as fairseq's translation models were trained with it:
// punctuation is made uniform and set apart, hyphens become "@-@", some characters entities ("&apos;"). And the way
// back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {

// A character and the bytes of the text that it stems from.
struct MosesCharacter {
  char32_t code = 0;
  ByteRange range;
};
using MosesText = std::vector<MosesCharacter>;

// `text` must be valid UTF-8; it stands at byte `begin` of the whole.
MosesText moses_text(std::string_view text, uint64_t begin);

// `language` is a two-letter code. Rules that depend on it: quotes, numbers, apostrophes, abbreviations (English,
// German, Russian; other languages use the English ones). Needs Unicode's categories (require_unicode()). Words are not
// empty.
std::vector<MosesText> moses_tokenize(MosesText text, std::string_view language);

// Joins words; the inverse as far as there is one. Special rules: English, French, Italian, Irish.
std::string moses_detokenize(const std::vector<std::string>& words, std::string_view language);

}  // namespace lapilli
