// Unicode properties and normalization forms, from utf8proc. Without it (CMake option LAPILLI_UNICODE) available() is
// false, and only functions marked as needing no library may be called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

enum class UnicodeForm { nfc, nfd, nfkc, nfkd };

bool unicode_available();
// ErrorCode::unsupported, naming `what`, in a build without utf8proc.
Status require_unicode(const char* what);

// Reads one character of valid UTF-8 at `at` and advances it. Needs no library.
char32_t next_character(std::string_view text, size_t& at);
void append_utf8(std::string& out, char32_t character);
// The property White_Space. Needs no library.
bool is_white_space(char32_t c);

bool is_punctuation(char32_t c);      // category P, or ASCII punctuation of category S
bool is_mark(char32_t c);             // category M
bool is_nonspacing_mark(char32_t c);  // category Mn
bool is_other(char32_t c);            // category C
bool is_number(char32_t c);           // category N
bool is_word(char32_t c);             // letters, marks, decimal digits, connectors: \w

// The full lower-case mapping of one character (without context): one or two characters.
void append_lower(std::vector<char32_t>& out, char32_t c);

// A character of a new text, and its relation to the old one: 0: it takes the place of the next character, 1: it is
// inserted behind that of the one before, -n: n characters behind its place go.
struct ChangedCharacter {
  char32_t character = 0;
  int32_t change = 0;
};
// O(n log n).
std::vector<ChangedCharacter> normalize(const std::vector<char32_t>& text, UnicodeForm form);

// Byte positions after each extended grapheme cluster; the last is text.size().
std::vector<size_t> grapheme_ends(std::string_view text);

}  // namespace lapilli
