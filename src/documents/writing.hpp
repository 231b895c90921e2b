// A passage with its translation, as bytes of a document.
#pragma once

#include <string>
#include <string_view>

#include "documents/passage.hpp"

namespace lapilli::documents {

// How words are written in a kind of document: what has a meaning there is escaped.
struct Style {
  // Appends the range of the text; `begins_line`: nothing of its passage stands in front of it in its line.
  void (*encode)(std::string& out, std::string_view text, Range range, bool begins_line, const Passage& passage);
  bool balanced_lines = false;  // lines of one length, else where they were in proportion
};

// `whole_words`: tags go around all that is between white space, also where fewer letters were linked.
void write_passage(std::string& out, std::string_view bytes, const Passage& passage, const Translation& translation,
                   const Style& style, bool whole_words);

}  // namespace lapilli::documents
