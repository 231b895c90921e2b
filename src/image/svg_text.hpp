// What every SVG here is made with: its beginning, text, and how much room that may take.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lapilli::image {

constexpr int32_t kSvgFont = 14, kSvgLine = 20,
                  kSvgBaseline = 15;  // pixels; of a line: its height, where letters stand

// The viewer's font is not known: rather too much than too little.
int32_t guessed_width(std::u32string_view text);
// As much of a label as fits, with three dots behind it if that is not all.
std::u32string shortened(std::u32string_view label, int32_t room);
// As XML has it, in UTF-8.
std::string escaped(std::u32string_view text);
std::string text_at(int32_t x, int32_t y, std::u32string_view text);
// The element's beginning, with a title and a white ground.
std::string svg_head(int32_t width, int32_t height, std::u32string_view title);

}  // namespace lapilli::image
