// Characters of UTF-8 text, as far as markup and words depend on them. Needs no library.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lapilli::documents {

struct Range {
  size_t begin = 0, end = 0;
  [[nodiscard]] bool empty() const { return begin >= end; }
  [[nodiscard]] size_t size() const { return empty() ? 0 : end - begin; }
  [[nodiscard]] std::string_view of(std::string_view text) const { return text.substr(begin, size()); }
};

// Position of the first invalid byte; none if the text is valid UTF-8.
std::optional<size_t> find_invalid_utf8(std::string_view text);
// Reads the character of valid UTF-8 at `at` and moves `at` behind it.
char32_t next_character(std::string_view text, size_t& at);
// Reads the character that ends at `at` and moves `at` in front of it.
char32_t previous_character(std::string_view text, size_t& at);
void append_character(std::string& out, char32_t c);

inline bool is_ascii_letter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_ascii_digit(char32_t c) { return c >= '0' && c <= '9'; }
inline char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string ascii_lower(std::string_view text);
bool is_one_of(std::span<const std::string_view> names, std::string_view name);

// Separators of words that show as one space: blanks, line ends and control characters of ASCII.
inline bool is_blank(char32_t c) { return c <= ' ' || c == 0x7f; }
inline bool is_dash(char32_t c) { return c == '-' || (c >= 0x2010 && c <= 0x2015); }
// True for anything but letters, digits and marks: punctuation, symbols, no-break spaces.
bool is_sign(char32_t c);
bool has_letter(std::string_view text);
// Knows the Latin letters up to U+00DE, Greek and Cyrillic.
bool is_capital(char32_t c);
// True for scripts without spaces between words: each character may begin a word.
bool is_unspaced(char32_t c);
// True for a cell that is a formula, or that shows one: spreadsheets take what begins with = for one when it is typed,
// unless another sign of a comparison follows ("== Notes ==", "=> here").
bool is_formula(std::string_view cell);
// True if the text ends a sentence, ignoring quotes and brackets behind it.
bool ends_sentence(std::string_view text);

}  // namespace lapilli::documents
