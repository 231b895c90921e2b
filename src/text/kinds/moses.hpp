// Moses' tokenizer for texts with spaces between words, as used to train fairseq's translation models: punctuation is
// normalized and separated, hyphens become "@-@", some characters entities ("&apos;"). Also the inverse.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {

// A character and the bytes of the text it stems from.
struct MosesCharacter {
  char32_t code = 0;
  ByteRange range;
};
using MosesText = std::vector<MosesCharacter>;

// `text` must be valid UTF-8; `begin` is its byte position in the whole text.
MosesText moses_text(std::string_view text, uint64_t begin);

// `language` is a two-letter code. Quotes, numbers, apostrophes and abbreviations depend on it (English, German,
// Russian; other languages use the English ones). Needs Unicode's categories (require_unicode()). Words are not empty.
// Without `normalized`, punctuation stays as it is; without `split_dashes`, so do dashes within words.
std::vector<MosesText> moses_tokenize(MosesText text, std::string_view language, bool normalized = true,
                                      bool split_dashes = true);

// Punctuation alone, as Moses' scripts make it uniform before a model's own pieces are cut; and typographic and
// full-width marks as ASCII alone, as the scripts of opus-mt's models do. Single spaces, and none around the text.
MosesText uniform_punctuation(MosesText text, std::string_view language);
MosesText ascii_marks(MosesText text);

// Joins words; inverts tokenization as far as possible. Special rules: English, French, Italian, Irish.
std::string moses_detokenize(const std::vector<std::string>& words, std::string_view language);

}  // namespace lapilli
