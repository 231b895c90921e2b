// A stretch of text being processed by normalizers and pre-tokenizers, with the input bytes that each byte stems from.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/unicode/unicode.hpp"

namespace lapilli {

// Bytes [begin, end) of the input. Inputs have at most 1 MiB.
struct Origin {
  uint32_t begin = 0;
  uint32_t end = 0;
};

// Far above any normalizer's result for 1 MiB, unless a file is crafted to exhaust memory: longer texts throw
// std::length_error.
inline constexpr size_t kMaxAlignedBytes = size_t{32} << 20;

// Always valid UTF-8. Positions are bytes at character boundaries.
class AlignedText {
 public:
  AlignedText() = default;
  // `text` begins at byte `start` of the input.
  AlignedText(std::string_view text, uint32_t start);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] size_t size() const { return text_.size(); }
  // Where this stretch began in the input, regardless of text removed from its front since.
  [[nodiscard]] uint32_t start() const { return start_; }
  // The smallest range of the input that covers bytes [begin, end); for begin == end an empty one at that position.
  [[nodiscard]] Origin origin(size_t begin, size_t end) const;
  [[nodiscard]] AlignedText slice(size_t begin, size_t end) const;

  // Moves the start to the origin of the first byte, as slice(0, size()) does.
  void restart() {
    if (!origins_.empty()) start_ = origins_.front().begin;
  }

  // For normalizers, which build a new text from an old one: an empty text with the same start, to copy parts of the
  // old one and append replacements.
  [[nodiscard]] AlignedText rewrite() const;
  void copy(const AlignedText& from, size_t begin, size_t end);
  void append(std::string_view text, Origin origin);
  void append(char32_t character, Origin origin);
  // The origin of what takes the place of bytes [.., end) as a whole: the reference gives it that of their last
  // character. `end` 0: that of nothing.
  [[nodiscard]] Origin origin_before(size_t end) const;
  // Becomes the characters of `to`, with the origins that the reference gives them: of the character whose place they
  // take alone.
  void change(std::span<const ChangedCharacter> to);
  // The new bytes share the origin of the first character.
  void prepend(std::string_view text);

 private:
  void check_room(size_t more) const;

  std::string text_;
  std::vector<Origin> origins_;  // one for each byte of text_
  uint32_t start_ = 0;
};

}  // namespace lapilli
