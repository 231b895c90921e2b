// Splits texts into words and signs, finds the gaps between them, and links the words of two texts.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "documents/characters.hpp"
#include "documents/document.hpp"

namespace lapilli::documents {

// Letters and digits with the hyphens and apostrophes between them, one character of a script without spaces, or a sign
// (also a repeated one, such as an ellipsis).
struct Atom {
  size_t begin = 0, end = 0;
  bool sign = false;
};

// `cuts`: positions at which atoms always end (ascending).
std::vector<Atom> split_atoms(std::string_view text, std::span<const size_t> cuts);

// Atoms that overlap a range.
struct AtomRange {
  size_t begin = 0, end = 0;
};
AtomRange atoms_in(std::span<const Atom> atoms, Range bytes);

// White space between words, and empty ranges between characters of a script without spaces. A line may break there, so
// blanks between a word and its question mark, as in French, are left out.
std::vector<Range> find_gaps(std::string_view text);

// Links whose ranges lie in their texts, at character boundaries, with a positive weight.
std::vector<WordLink> valid_links(std::string_view source, std::string_view target, std::span<const WordLink> links);
// Links each word to the word at the proportional position.
std::vector<WordLink> proportional_links(std::span<const Atom> source, std::span<const Atom> target);

}  // namespace lapilli::documents
