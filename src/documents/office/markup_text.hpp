// Texts of programs in XML, in which markup is written as text: "&lt;b&gt;new&lt;/b&gt;".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/office/xml_text.hpp"

namespace lapilli::documents {

// A text that is one segment, or several: written tags of blocks and lines divide it.
struct MarkupText {
  PartBuilder words;
  std::vector<size_t> cuts;  // items of `words` that begin a segment

  void divide() { cuts.push_back(words.items().size()); }
};

// Adds the words of a range; written tags are tags among them. `qt`: so is the sign of a key ("&amp;File"), and counts
// ("%n") stay.
void add_markup_text(MarkupText& text, std::string_view bytes, Range range, bool qt);

// The passages of a text, each with one part.
std::vector<Passage> passages_of(MarkupText& text);
// Gives the passages of a content one place beside it, with all that is between their words. They are written all or
// none.
void put_beside(std::vector<Passage>& passages, std::string_view bytes, Range content, Range place,
                const std::string& before, const std::string& after);

// A number for a tag's name, apart from the small numbers.
uint32_t key_of_name(std::string_view name);

}  // namespace lapilli::documents
