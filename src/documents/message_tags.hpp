// Markup that is written into the texts of programs: tags, and the calls of other texts.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "documents/characters.hpp"

namespace lapilli::documents {

struct MessageTag {
  Range range;       // empty if there is none
  std::string name;  // in lower case
  bool closes = false, single = false;
};
// The tag at `at`, which is a <: <b>, </b>, <a href="x">, <0/>.
MessageTag message_tag_at(std::string_view text, size_t at);
// True for <br> and its like, which no tag closes.
bool is_void_tag(std::string_view name);
// Names of elements that close somewhere in a text: "<your name>" is none, "<link>here</link>" is.
std::set<std::string> closed_names(std::string_view text);
// A tag without a partner in the text is one if it needs none.
bool is_known_tag(const MessageTag& tag, const std::set<std::string>& closed);

// End of "$t(key, {...})" at `at`, a text within a text in i18next; 0 if there is none.
size_t nested_message_end(std::string_view text, size_t at);

bool is_tag_name_byte(char c);

}  // namespace lapilli::documents
