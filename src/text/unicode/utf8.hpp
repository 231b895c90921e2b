// UTF-8 checks and the few Unicode properties that tokenizers need. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace lapilli {

// U+2581: SentencePiece's mark for a space.
inline constexpr const char* kWordMark = "\xE2\x96\x81";

// One step through a text. For an ill-formed sequence `bytes` is the longest part that could have begun a well-formed
// one (at least 1), and `code` is 0.
struct CodePoint {
  uint32_t code;
  uint32_t bytes;  // 1 to 4
  bool valid;
};
// `at` is less than text.size().
CodePoint decode_utf8(std::string_view text, size_t at);

// Byte offset of the first byte outside a well-formed sequence (no overlong forms, surrogates or values above
// U+10FFFF); std::string_view::npos if all of `text` is well-formed. A sequence cut off by the end counts from its
// start.
size_t find_invalid_utf8(std::string_view text);

// An error with the byte's value and offset; `what` names the text: "line 7 of FILE".
Status check_utf8(std::string_view text, const std::string& what);

// Replaces each maximal ill-formed part by one U+FFFD, as the Unicode standard recommends.
std::string replace_invalid_utf8(std::string_view text);
// Removes such parts instead.
std::string drop_invalid_utf8(std::string_view text);

// Converts, with one U+FFFD for each maximal ill-formed part.
std::u32string to_utf32(std::string_view text);

// Removes Unicode white space at one end (the characters that Python's str.strip removes). `text` must be valid UTF-8.
std::string_view strip_left(std::string_view text);
std::string_view strip_right(std::string_view text);
std::string_view strip(std::string_view text);

// At most `limit` bytes of `text`, in quotes, with control characters and invalid bytes as \xNN: for messages about
// files that may hold anything.
std::string quote_text(std::string_view text, size_t limit = 48);

}  // namespace lapilli
