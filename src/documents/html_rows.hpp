// Neighbours in HTML that form no sentence: rows of links and buttons, elements that touch without being one word.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "documents/passage.hpp"

namespace lapilli::documents {

// Positions at which to cut the items (ascending, none of them an end). `controls`: keys of links, buttons and labels.
std::vector<size_t> find_row_cuts(std::span<const PartBuilder::Item> items, std::span<const uint32_t> controls);

}  // namespace lapilli::documents
