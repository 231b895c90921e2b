// Inputs as parts, each run by the model on its own: sentences of a text, or the whole of it, as token ids.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generate/conventions.hpp"
#include "generate/translate.hpp"
#include "text/sentences/sentences.hpp"

namespace lapilli {

struct InputPart {
  TextRange range;  // of the input's text
  std::vector<int32_t> ids;
  std::vector<ByteRange> bytes;  // of the input's text, per id
  // Set if the part is returned unchanged, without a run of the model (is_neutral_text).
  std::optional<TextRange> kept;
  // Tokens of the text (not of prefixes) with letters, and those of them unknown to the model.
  uint32_t word_tokens = 0, unknown_tokens = 0;
};

struct InputParts {
  // Ranges of the parts in the text; empty if the whole input is one part.
  std::vector<TextRange> ranges;
  std::vector<InputPart> parts;  // at least one
};

// Texts that are split into sentences. Most families are also trained on two short sentences together, and the
// reference's result for a line is that of the whole line; of more sentences, models leave some out, and those trained
// on single ones (Conventions::one_sentence) do so of two already.
enum class Split : uint8_t {
  never,
  long_texts,  // of more than kWholeSentences sentences (with one_sentence: of several), or more than kWholeTokens
               // tokens
  always,
};
constexpr uint32_t kWholeSentences = 2, kWholeTokens = 96;
// Decoders that translate were trained on whole texts: one of at most so many tokens runs as one.
constexpr uint32_t kWholeFramedTokens = 512;

// A sentence of more tokens than kLongSentence, or than half of the model's positions, is cut at clauses into parts of
// at most kLongClause: corpora are filtered at 100 to 250 tokens, and most of the rest has fewer than 40; models leave
// parts of much longer ones out. Tokens of less than two characters count for less: if they are bytes or characters,
// sentences have several times as many.
constexpr uint32_t kLongSentence = 128, kLongClause = 40, kCharactersPerToken = 2;

struct PartOptions {
  Split split = Split::never;
  bool keep = false;     // texts and parts that are the same in every language are kept
  std::string language;  // of the texts; empty: unknown
  const Conventions* conventions = nullptr;
};

// Never truncates: cuts long sentences at clauses if splitting is allowed; otherwise, exceeding the model's positions
// is an error that says so. Every part has the conventions' prefix, or else the mark that the text begins with
// (">>fr<<"), if that is a token of the model. Texts that may contain words of their own (texts_bring_words) are split
// only if requested (Split::always).
Result<InputParts> make_parts(const Model& model, const TextInput& input, const PartOptions& options);

// Joins the results of all parts to one sequence: texts between the white space of the input, ids and scores one after
// the other, the score over all of them. `sequences` holds one per part.
TextSequence join_parts(std::string_view text, const InputParts& parts, std::vector<TextSequence> sequences,
                        float length_penalty);

}  // namespace lapilli
