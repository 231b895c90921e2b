// Writes a passage with its translation as bytes of a document.
#pragma once

#include <string>
#include <string_view>

#include "documents/passage.hpp"

namespace lapilli::documents {

// How words are written in a kind of document: characters with a meaning there are escaped.
struct Style {
  // Appends the range of the text; `begins_line`: the passage has nothing in front of it on its line.
  void (*encode)(std::string& out, std::string_view text, Range range, bool begins_line, const Passage& passage);
  bool balanced_lines = false;  // lines of equal length; otherwise breaks stay in proportion
  // Clears up what is written for a passage from a place on: markup that a translation left without words, quotes that
  // its words need.
  void (*tidy)(std::string& out, size_t from, const Passage& passage) = nullptr;
};

// A document that is written anew: its bytes, and those written so far.
struct Rewriting {
  std::string_view bytes;
  const Style& style;
  std::string& out;
};
// `whole_words`: tags extend to white space on both sides, even if fewer letters were linked.
void write_passage(const Rewriting& document, const Passage& passage, const Translation& translation, bool whole_words);

}  // namespace lapilli::documents
