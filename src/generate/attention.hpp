// Attention weights of a finished sequence, and the alignment of source and target words.
//
// The search keeps no weights: the chosen hypothesis is run again, teacher-forced, so the weights are those that its
// own ids see, regardless of beams.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generate/generate.hpp"
#include "generate/translate.hpp"

namespace lapilli {

enum class AttentionKind { cross, encoder, decoder };

struct AttentionToken {
  int32_t id = 0;
  bool special = false;  // not text: end token, language token, ...
  ByteRange bytes;       // of the text; empty for special tokens
  std::string label;     // the bytes themselves, else the token's name or "#id"
};

struct AttentionMap {
  uint32_t layers = 0, heads = 0, rows = 0, cols = 0;
  // [layers, heads, rows, cols]; each row sums to 1, in decoders with merged attention that of `cross` and `decoder`
  // together.
  std::vector<float> values;
  bool recurrent = false;  // cells are in the place of this attention, which has no weights then

  // One layer and head, or the mean if negative: [rows, cols]. Errors: no such layer or head, an empty map.
  [[nodiscard]] Result<std::vector<float>> select(int32_t layer, int32_t head) const;
};

// Attention of one part: source tokens as the encoder read them, target tokens as the decoder did, with the start
// token. cross: a row per target token, with the weights of the step that reads this token and writes the next one.
// encoder: source by source. decoder: target by target. A map is empty if the model has no such weights, as with LED's
// windows.
struct Attention {
  // Set for a part of the input that was kept: its ranges in the texts. It was not run, so there are no tokens or maps,
  // but each word is linked to itself.
  struct Kept {
    ByteRange source, target;
  };
  std::optional<Kept> kept;
  std::string source_text, target_text;  // the texts that the tokens' bytes index: the whole input, the whole sequence
  std::vector<AttentionToken> source, target;
  AttentionMap cross, encoder, decoder;

  [[nodiscard]] const AttentionMap& map(AttentionKind kind) const {
    return kind == AttentionKind::cross ? cross : kind == AttentionKind::encoder ? encoder : decoder;
  }
};

// Runs `part` of a sequence. The texts are those that the part's ranges index; empty if the input was ids.
Result<Attention> attend(const std::shared_ptr<Model>& model, const SequencePart& part, std::string_view source_text,
                         std::string_view target_text);

// Fails for a part that was kept.
Status has_maps(const Attention& attention);

// The bytes of `text`, decoded from `ids`, that each id gave; empty for ids without any. Found by decoding ever longer
// prefixes. `base` is added to every offset.
using Decoding = std::function<Result<std::string>(std::span<const int32_t> ids)>;
Decoding decoding_by(const Tokenizer& tokenizer);
Result<std::vector<ByteRange>> decoded_bytes(const Decoding& decode, std::span<const int32_t> ids,
                                             std::string_view text, uint64_t base = 0);

// Attention as a JSON object: tokens with ids and offsets, and the map of `kind`, for one layer and head, their mean
// (kAttentionMean) or all of them (kAttentionAll).
constexpr int32_t kAttentionMean = -1, kAttentionAll = -2;
struct AttentionChoice {
  AttentionKind kind = AttentionKind::cross;
  int32_t layer = kAttentionMean, head = kAttentionMean;
};
// "cross attention, mean of all layers, head 3"
std::string name_of(const AttentionChoice& choice);
Result<std::string> attention_json(const Attention& attention, const AttentionChoice& choice);

// The same as a picture, rows and columns labelled with their tokens: SVG with labels of any script, PNG with simple
// ones (drawing/typeface.hpp).
Result<std::string> attention_svg(const Attention& attention, const AttentionChoice& choice);
Result<std::vector<uint8_t>> attention_png(const Attention& attention, const AttentionChoice& choice);

// ---- alignment
// --------------------------------------------------------------------------------------------------------

struct Word {
  ByteRange bytes;  // of the text
};

// A pair of corresponding words.
struct WordLink {
  uint32_t source = 0, target = 0;  // indexes of words
  float weight = 0;                 // attention of the target word to the source word, 0 to 1
};

struct Alignment {
  std::vector<Word> source, target;
  std::vector<WordLink> links;  // by target word, then source word
};

struct AlignmentOptions {
  int32_t layer = kAttentionMean;  // of the decoder; kAttentionMean: all layers
};

// Words are runs of letters and digits, and runs of punctuation; in scripts without white space every token is one.
// Every target word is linked to the source word that it attends to most; an unlinked source word is linked to the
// target word that attends most to it, if with more than half the weight of that word's own link. Punctuation is linked
// to punctuation only (see docs/use/attention.md). A target without words has no links. In a part that was kept, each
// word is linked to itself. Errors: no source text (the input was ids), no such layer.
Result<Alignment> align(const Attention& attention, const AlignmentOptions& options = {});

// Words of `text` within `range`; `tokens` (by their bytes) separate words in scripts without white space.
std::vector<Word> find_words(std::string_view text, ByteRange range, std::span<const AttentionToken> tokens);

}  // namespace lapilli
