// The words of a message of gettext, and what stays among them: tags, placeholders.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "documents/passage.hpp"
#include "documents/written_text.hpp"

namespace lapilli::documents {

struct PoMarkup {
  bool percent = false;          // %% is a percent sign, and stays
  size_t* number = nullptr;      // if set, "%s" becomes "%1$s" by this number, which grows: it may change its place
  std::set<std::string> closed;  // names of elements that close in the message
};

// Adds a range of the text: pairs of tags (<b>...</b>, <0>...</0>) as pairs, others (<br>, <0/>) as points, $t(...) and
// placeholders as kept words.
void add_po_text(PartBuilder& builder, const WrittenText& text, Range range, const PoMarkup& markup);

// Number of placeholders that take the next argument: "%s", not "%1$s" or "%(name)s".
size_t count_next_arguments(std::string_view text);

}  // namespace lapilli::documents
