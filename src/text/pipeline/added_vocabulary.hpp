// Added tokens of a pipeline. They are matched before the normalizer runs, or after it if marked "normalized".
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "text/added_tokens.hpp"
#include "text/pipeline/aligned_text.hpp"
#include "text/pipeline/models.hpp"
#include "text/pipeline/normalizers.hpp"
#include "text/unicode/byte_trie.hpp"

namespace lapilli {

// Immutable; const members may be called from several threads.
class AddedVocabulary {
 public:
  AddedVocabulary() = default;
  // A token that the model knows gets the model's id, whatever its entry says. Of tokens with the same text the last
  // counts. `normalizer` may be null.
  static Result<AddedVocabulary> make(std::vector<AddedToken> tokens, const SubwordModel& model,
                                      const Normalizer* normalizer);

  struct Part {
    AlignedText text;
    const AddedToken* token = nullptr;  // null: plain text, normalized and not empty
  };
  // Cuts `text` at added tokens and normalizes the text between them.
  Status split(std::string_view text, const Normalizer* normalizer, std::vector<Part>& parts) const;

  // The text that a token decodes to: its own, normalized if it is matched in normalized text. `token` must be one of
  // this object's.
  [[nodiscard]] const std::string& decoded(const AddedToken& token) const {
    return decoded_[static_cast<size_t>(&token - tokens_.data())];
  }

  // nullptr if there is none.
  [[nodiscard]] const AddedToken* by_id(int32_t id) const;
  [[nodiscard]] const AddedToken* by_text(std::string_view text) const;
  [[nodiscard]] const std::vector<AddedToken>& all() const { return tokens_; }

 private:
  void cut(AlignedText text, const ByteTrie& trie, std::vector<Part>& parts) const;

  std::vector<AddedToken> tokens_;
  std::vector<std::string> decoded_;  // one per token
  std::unordered_map<int32_t, size_t> by_id_;
  std::unordered_map<std::string, size_t> by_text_;
  ByteTrie raw_;
  ByteTrie normalized_;
};

}  // namespace lapilli
