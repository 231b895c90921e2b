// Splitting text into sentences, for models that were trained on single ones. Nothing is ever lost: sentences and the
// white space around them together are the text.
//
// The rules are those of Unicode's sentence segmentation (UAX #29) with what translation needs on top: abbreviations,
// initials and ordinals of the common European languages, addresses, quotations that a sentence goes on behind, line
// breaks. In doubt a text stays in one piece.
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
  space,  // a single one is white space like any other
};

struct SentenceOptions {
  std::string language;  // "fr", "fr_XX", "fra_Latn"; empty: guessed from the text's small words
  LineBreaks line_breaks = LineBreaks::guess;
  bool unicode_only = false;  // UAX #29 alone; for tests
};

// The sentences of `text`: in order, not empty, not overlapping, white space at neither end. Between them, before the
// first and behind the last there is white space or nothing. Empty lines always end a sentence. `text` may be anything:
// bytes that are not UTF-8 count as other characters.
std::vector<TextRange> split_sentences(std::string_view text, const SentenceOptions& options = {});

// How many tokens a piece of text has.
using CountTokens = std::function<Result<uint64_t>(std::string_view)>;

struct SentenceLimit {
  uint64_t good = 0;     // tokens that a piece is to have at most
  uint64_t most = 0;     // tokens that a piece may have at all; not less than `good`
  std::string language;  // as above
};

// Cuts `sentence`, a range of `text`, into pieces of about one length that have at most `good` tokens: behind
// semicolons, colons and what else may end a sentence, else behind commas, dashes and closing brackets, else before
// conjunctions, else at white space, else, in scripts that write none, between characters. A word or an address that
// alone has more than `good` tokens is a piece by itself; one that has more than `most` is cut between characters
// (never within a character with its marks). Pieces are like sentences above. One character alone that exceeds the
// limit stays as it is: the caller finds out.
Result<std::vector<TextRange>> limit_sentence(std::string_view text, TextRange sentence, const SentenceLimit& limit,
                                              const CountTokens& count);

// Puts what became of the sentences (`pieces`, one per range) back between the white space of `text`. Where there was
// none between two sentences (Chinese, Japanese, ...) and the pieces are of a script that writes spaces, one is added.
std::string join_sentences(std::string_view text, std::span<const TextRange> sentences,
                           std::span<const std::string> pieces);

}  // namespace lapilli
