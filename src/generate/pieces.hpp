// Inputs as the pieces that the model is run on: sentences of a text, or the whole of it, as token ids.
#pragma once

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

struct PieceOptions {
  Split split = Split::never;
  std::string language;  // of the texts; empty: unknown
  const Conventions* conventions = nullptr;
};

// Nothing is cut off: pieces that exceed the model's positions are cut in two if splitting is allowed, and an error
// that says so if it is not. Every piece has the conventions' prefix, or else the mark that the text begins with
// (">>fr<<"), if that is a token of the model. Texts that may bring words of their own (texts_bring_words) are split
// only if that is asked for (Split::always).
Result<InputPieces> make_pieces(const Model& model, const TextInput& input, const PieceOptions& options);

// What the model said to each piece as one sequence: texts between the white space of the input, ids and scores one
// after the other, the score over all of them. `sequences` holds one per piece.
TextSequence join_pieces(std::string_view text, const InputPieces& pieces, std::vector<TextSequence> sequences,
                         float length_penalty);

}  // namespace lapilli
