// Shared by M2M100 and Speech2Text tokenizers: a SentencePiece model cuts the text, vocab.json gives the ids.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "text/added_tokens.hpp"
#include "text/sentencepiece/sentencepiece_model.hpp"
#include "text/special_tokens.hpp"
#include "text/tokenizer.hpp"
#include "text/vocabulary.hpp"

namespace lapilli {

// Immutable; const members may be called from several threads and may throw std::bad_alloc.
class VocabularyPieces {
 public:
  VocabularyPieces(SentencePieceModel model, Vocabulary words, CollectedTokens tokens);

  [[nodiscard]] Result<Encoding> encode(std::string_view text) const;
  // Options for joining pieces to text. Runs between special tokens are joined separately.
  struct Joining {
    bool skip_special = true;
    bool space_behind_special = false;
    bool upper_case = false;  // except special tokens
  };
  [[nodiscard]] Result<std::string> decode(std::span<const int32_t> ids, const Joining& joining) const;
  [[nodiscard]] std::string_view token(int32_t id) const;
  [[nodiscard]] uint64_t size() const { return size_; }  // largest id plus one
  [[nodiscard]] const SentencePieceModel& model() const { return model_; }

 private:
  SentencePieceModel model_;
  Vocabulary words_;
  AddedTokens added_;
  std::string unknown_;
  int32_t unknown_id_;
  uint64_t size_;
};

}  // namespace lapilli
