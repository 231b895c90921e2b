// Tokens recognized in a text before the tokenizer's own algorithm runs: special tokens and added words.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lapilli {

struct AddedToken {
  std::string text;  // not empty
  int32_t id = 0;
  bool special = true;  // omitted if decoding skips special tokens
  bool lstrip = false;  // swallows white space on its left, or right
  bool rstrip = false;
  bool single_word = false;  // not inside a longer word (pipelines only)
  bool normalized = false;   // matched in normalized text (pipelines only)
};

// Immutable; const members may be called from several threads.
class AddedTokens {
 public:
  AddedTokens() = default;
  // The first of several tokens with the same text or id counts.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  // Parts of `text` in order: either a token or a stretch of plain text (never empty). At each position the longest
  // token wins. The views point into `text`, the tokens into this object.
  struct Part {
    std::string_view text;
    const AddedToken* token = nullptr;
  };
  [[nodiscard]] std::vector<Part> split(std::string_view text) const;

  // nullptr if there is none.
  [[nodiscard]] const AddedToken* by_id(int32_t id) const;
  [[nodiscard]] const AddedToken* by_text(std::string_view text) const;
  [[nodiscard]] const std::vector<AddedToken>& all() const { return tokens_; }

 private:
  [[nodiscard]] const AddedToken* match(std::string_view text) const;

  std::vector<AddedToken> tokens_;
  std::unordered_map<int32_t, size_t> by_id_;
  std::unordered_map<std::string, size_t> by_text_;
  std::array<std::vector<size_t>, 256> by_first_byte_;  // longest first
};

}  // namespace lapilli
