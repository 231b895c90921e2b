// ICU's messages: "{n, plural, one {# file} other {# files}} in {folder}". Cuts them into the pieces of running text
// around and within plural, selectordinal and select; what is in no piece is syntax.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/characters.hpp"

namespace lapilli::documents {

struct IcuPiece {
  Range text;
  std::vector<Range> kept;  // arguments, quoted signs, and # in a plural
  bool in_plural = false;
};

struct IcuPlural {
  std::string_view name;  // of its argument
  size_t at = 0;
  std::vector<std::string_view> categories;  // without =0
};

struct IcuMessage {
  std::vector<IcuPiece> pieces;
  std::vector<IcuPlural> plurals;
  std::string error;  // an advice, if the message is broken
};

// True if the text has a plural, selectordinal or select, whose branches hold words.
bool is_icu_message(std::string_view text);
IcuMessage read_icu_message(std::string_view text);

}  // namespace lapilli::documents
