// Where the tags of a source stand in its translation. Pure functions of texts and links.
//
// A pair goes around the target words that are linked to its words: of all runs of words the one with the most weight
// of its own and the least of others'. A run is never cut by a sibling, and lies within the run of its parent; so tags
// nest as they did, and two pairs change places where their words do. What finds no word of its own takes the free one
// nearest to its place in proportion. Points keep their order, each beside the word that it stood beside. Without any
// links, words stand in proportion.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "documents/passage.hpp"

namespace lapilli::documents {

// For each tag a range of the target; an empty one for points, and for pairs and kept words that found no room.
std::vector<Range> place_tags(std::string_view source, std::string_view target, std::span<const Tag> tags,
                              std::span<const WordLink> links);

// Where the target is cut for the parts of a source that end at `ends` (the last one's left out): a gap for each, in
// order. Each part gets a word where there are enough; where there are not, the last ones get none.
std::vector<Range> cut_parts(std::string_view source, std::string_view target, std::span<const size_t> ends,
                             std::span<const WordLink> links);

// Of the gaps, which are ascending, those nearest to the places `at`, ascending too: one for each, as long as there are
// any.
std::vector<Range> nearest_gaps(std::span<const Range> gaps, std::span<const size_t> at);

}  // namespace lapilli::documents
