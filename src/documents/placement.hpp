// Places the tags of a source in its translation. Pure functions of texts and links.
//
// A pair goes around the target words linked to its words: the run of words with the most weight of its own and the
// least of others'. No sibling splits a run, and a run lies within its parent's, so tags nest as before, and two pairs
// swap places if their words do. A pair that finds no word of its own takes the free one nearest to its proportional
// place. Points keep their order, each beside the word that it was next to. Without any links, words are placed in
// proportion.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "documents/passage.hpp"

namespace lapilli::documents {

// Gives a range of the target for each tag; empty for points, and for pairs and kept words that found no room.
std::vector<Range> place_tags(std::string_view source, std::string_view target, std::span<const Tag> tags,
                              std::span<const WordLink> links);

// Cuts the target for the parts of a source that end at `ends` (without the last): a gap for each, in order. Each part
// gets a word if there are enough; otherwise the last parts get none.
std::vector<Range> cut_parts(std::string_view source, std::string_view target, std::span<const size_t> ends,
                             std::span<const WordLink> links);

// The gaps nearest to the places `at`, both ascending: one for each place, as long as there are any.
std::vector<Range> nearest_gaps(std::span<const Range> gaps, std::span<const size_t> at);

}  // namespace lapilli::documents
