#include "cli/files/blanks.hpp"

#include <cstddef>

namespace lapilli::cli {

namespace {

// Both ends have the same length, so that their bytes compare like the characters.
struct Range {
  std::string_view first, last;
};
constexpr Range kBlanks[] = {
    {"\t", "\r"},
    {"\x1c", " "},                     // separators of files, groups, records and units: white space to many programs
    {"\xc2\x85", "\xc2\x85"},          // U+0085 next line
    {"\xc2\xa0", "\xc2\xa0"},          // U+00A0 no-break space
    {"\xe1\x9a\x80", "\xe1\x9a\x80"},  // U+1680 Ogham space
    {"\xe1\xa0\x8e", "\xe1\xa0\x8e"},  // U+180E Mongolian vowel separator
    {"\xe2\x80\x80", "\xe2\x80\x8f"},  // U+2000 to U+200F: spaces, zero width ones, joiners, marks of direction
    {"\xe2\x80\xa8", "\xe2\x80\xaf"},  // U+2028 to U+202F: separators, directions, narrow no-break space
    {"\xe2\x81\x9f", "\xe2\x81\xa9"},  // U+205F to U+2069: mathematical space, word joiner, directions
    {"\xe3\x80\x80", "\xe3\x80\x80"},  // U+3000 ideographic space
    {"\xef\xbb\xbf", "\xef\xbb\xbf"},  // U+FEFF zero width no-break space, also the byte order mark
};

// Length of the blank at the beginning of `text`; 0 if there is none.
size_t leading_blank(std::string_view text) {
  for (const Range& range : kBlanks) {
    const std::string_view head = text.substr(0, range.first.size());
    if (head.size() == range.first.size() && head >= range.first && head <= range.last) return head.size();
  }
  return 0;
}

}  // namespace

bool is_blank(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = leading_blank(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

bool has_blanks(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(1)) {
    if (leading_blank(text) > 0) return true;
  }
  return false;
}

}  // namespace lapilli::cli
