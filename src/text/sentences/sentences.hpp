// Splitting text into sentences, for models trained on single sentences. Nothing is lost: the sentences and the white
// space around them make up the text.
//
// The rules are those of Unicode's sentence segmentation (UAX #29) plus what translation needs: abbreviations, initials
// and ordinals of the common European languages, addresses, quotations that a sentence continues after, line breaks. In
// doubt a text is not split.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

// Bytes [begin, end) of a text.
struct TextRange {
  uint64_t begin = 0, end = 0;
  bool operator==(const TextRange&) const = default;
};

enum class LineBreaks {
  guess,  // a line break ends a sentence unless the line looks wrapped (a small letter follows, or the line is full)
  end,    // every line break ends a sentence
  space,  // a single one is ordinary white space
};

struct SentenceOptions {
  std::string language;  // "fr", "fr_XX", "fra_Latn"; empty: guessed from the text's function words
  LineBreaks line_breaks = LineBreaks::guess;
  bool unicode_only = false;  // UAX #29 alone; for tests
};

// The sentences of `text`: in order, not empty, not overlapping, without white space at either end. Between and around
// them is only white space, or nothing. Empty lines always end a sentence. `text` may be any bytes: invalid UTF-8
// counts as other characters.
std::vector<TextRange> split_sentences(std::string_view text, const SentenceOptions& options = {});

// Number of tokens in a piece of text.
using CountTokens = std::function<Result<uint64_t>(std::string_view)>;

struct SentenceLimit {
  uint64_t good = 0;     // most tokens that a piece should have
  uint64_t most = 0;     // most tokens that a piece may have; at least `good`
  std::string language;  // as above
};

// Cuts `sentence`, a range of `text`, into pieces of similar length with at most `good` tokens: after semicolons,
// colons and other marks that may end a sentence, else after commas, dashes and closing brackets, else before
// conjunctions, else at white space, else, in scripts without it, between characters. A word or address of more than
// `good` tokens is a piece of its own; one of more than `most` is cut between characters (never between a character and
// its marks). Pieces are like the sentences above. A single character beyond the limit is left to the caller.
Result<std::vector<TextRange>> limit_sentence(std::string_view text, TextRange sentence, const SentenceLimit& limit,
                                              const CountTokens& count);

// Puts the results for the sentences (`pieces`, one per range) back between the white space of `text`. Adds a space
// between sentences that had none (Chinese, Japanese, ...) if the pieces' script writes spaces.
std::string join_sentences(std::string_view text, std::span<const TextRange> sentences,
                           std::span<const std::string> pieces);

}  // namespace lapilli
