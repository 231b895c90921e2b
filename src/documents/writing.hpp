// Writes a passage with its translation as bytes of a document.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "documents/passage.hpp"

namespace lapilli::documents {

// Where words and markup meet: in front of an opening or of what stands alone, or behind what closes or stands alone.
enum class Side { before_markup, behind_markup };

// How words are written in a kind of document: characters with a meaning there are escaped.
struct Style {
  // Appends the range of the text; `begins_line`: the passage has nothing in front of it on its line.
  void (*encode)(std::string& out, std::string_view text, Range range, bool begins_line, const Passage& passage);
  bool balanced_lines = false;  // lines of equal length; otherwise breaks stay in proportion
  // Clears up what is written for a passage from a place on: markup that a translation left without words, quotes that
  // its words need.
  void (*tidy)(std::string& out, size_t from, const Passage& passage) = nullptr;
  // Prepares `out` for what is next, where words and markup meet: some markup needs a sign between them.
  void (*join)(std::string& out, std::string_view next, Side side) = nullptr;
  // The length of a text as an adornment below it counts.
  size_t (*width)(std::string_view text) = nullptr;
};

// A document that is written anew: its bytes, and those written so far.
struct Rewriting {
  std::string_view bytes;
  const Style& style;
  std::string& out;
  // Writes what is between the parts of a passage; without it the bytes stay.
  std::function<void(Range)> between = {};
};
// `whole_words`: tags extend to white space on both sides, even if fewer letters were linked.
void write_passage(const Rewriting& document, const Passage& passage, const Translation& translation, bool whole_words);

}  // namespace lapilli::documents
