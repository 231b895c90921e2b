// The parts that all SVG files share: the head, text, and the room that text takes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lapilli::drawing {

constexpr int32_t kSvgFont = 14, kSvgLine = 20,
                  kSvgBaseline = 15;  // pixels; of a line: its height and its baseline

// An overestimate, since the viewer's font is not known.
int32_t guessed_width(std::u32string_view text);
// As much of a label as fits, followed by three dots if it is cut.
std::u32string shortened(std::u32string_view label, int32_t room);
// Escaped for XML, in UTF-8.
std::string escaped(std::u32string_view text);
std::string text_at(int32_t x, int32_t y, std::u32string_view text);
// The head of the file, with a title and a white background.
std::string svg_head(int32_t width, int32_t height, std::u32string_view title);

}  // namespace lapilli::drawing
