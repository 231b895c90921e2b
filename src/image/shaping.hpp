// From a label's characters to glyphs from left to right, as far as labels need it: runs of right-to-left scripts are
// turned around, Arabic letters take their joined forms. Not done: ligatures but lam-alef, the vowel signs' reordering
// of Indic scripts, nested directions.
#pragma once

#include <string>
#include <string_view>

namespace lapilli::image {

// Characters in the order in which they are drawn.
std::u32string visual_order(std::u32string_view text);

// Arabic letters as presentation forms (isolated, final, initial, medial), in logical order.
std::u32string join_arabic(std::u32string_view text);

bool right_to_left(char32_t c);
bool combining(char32_t c);  // drawn over the character before it
bool invisible(char32_t c);  // controls, joiners, variation selectors

}  // namespace lapilli::image
