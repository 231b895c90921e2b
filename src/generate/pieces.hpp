// Inputs as the pieces that the model is run on: sentences of a text, or the whole of it, as token ids.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generate/conventions.hpp"
#include "generate/translate.hpp"
#include "text/sentences/sentences.hpp"

namespace lapilli {

struct InputPiece {
  TextRange range;  // of the input's text
  std::vector<int32_t> ids;
  std::vector<ByteRange> bytes;  // of the input's text, per id
  // What is given back as it is, without a run of the model (is_neutral_text); the others have none.
  std::optional<TextRange> kept;
  // Tokens of the text (not of prefixes) that hold letters, and how many of these the model does not know.
  uint32_t word_tokens = 0, unknown_tokens = 0;
};

struct InputPieces {
  // Of the pieces in the text; empty if the input is one piece as it is.
  std::vector<TextRange> ranges;
  std::vector<InputPiece> pieces;  // at least one
};

// Which texts of several sentences become as many pieces. Two sentences that are short together are what models of most
// families are trained on as well, and the reference's result for a line is that of the whole line; of more, models
// leave some out, and those that are trained on single ones (Conventions::one_sentence) of two already.
enum class Split : uint8_t {
  never,
  long_texts,  // of more than kWholeSentences sentences (with one_sentence: of several), or more than kWholeTokens
               // tokens
  always,
};
constexpr uint32_t kWholeSentences = 2, kWholeTokens = 96;

// A sentence of more tokens than kLongSentence, or than half of the model's positions, is cut at clauses into pieces of
// at most kLongClause: corpora are filtered at 100 to 250 tokens, and most of what is left has fewer than 40; of what
// is much longer models leave parts out. Tokens of less than two characters count for less: where they are bytes or
// characters, sentences have several times as many.
constexpr uint32_t kLongSentence = 128, kLongClause = 40, kCharactersPerToken = 2;

struct PieceOptions {
  Split split = Split::never;
  bool keep = false;     // texts and pieces that are the same in every language are kept as they are
  std::string language;  // of the texts; empty: unknown
  const Conventions* conventions = nullptr;
};

// Nothing is cut off: long sentences are cut at clauses if splitting is allowed; if it is not, those that exceed the
// model's positions are an error that says so. Every piece has the conventions' prefix, or else the mark that the text
// begins with
// (">>fr<<"), if that is a token of the model. Texts that may bring words of their own (texts_bring_words) are split
// only if that is asked for (Split::always).
Result<InputPieces> make_pieces(const Model& model, const TextInput& input, const PieceOptions& options);

// What the model said to each piece as one sequence: texts between the white space of the input, ids and scores one
// after the other, the score over all of them. `sequences` holds one per piece.
TextSequence join_pieces(std::string_view text, const InputPieces& pieces, std::vector<TextSequence> sequences,
                         float length_penalty);

}  // namespace lapilli
