// Labels that are too long for their place.
#pragma once

#include <string>
#include <string_view>

namespace lapilli::drawing {

// `text`, or as much of its beginning as fits into `room` together with three dots. `width_of` gives the width of a
// code point.
template <class WidthOf>
std::u32string shorten(std::u32string_view text, float room, const WidthOf& width_of) {
  const float dots = 3 * width_of(U'.');
  float width = 0;
  size_t kept = 0;  // characters that fit in front of the dots
  for (size_t i = 0; i < text.size(); ++i) {
    width += width_of(text[i]);
    if (width > room) return std::u32string(text.substr(0, kept)) + U"...";
    if (width + dots <= room) kept = i + 1;
  }
  return std::u32string(text);
}

}  // namespace lapilli::drawing
