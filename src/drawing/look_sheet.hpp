// Shows what was looked at in a picture: a copy for each look, with a label above and the parts looked at covered in
// orange. Either SVG, which holds the picture once, or pixels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "drawing/typeface.hpp"
#include "image/picture.hpp"

namespace lapilli::drawing {

struct Look {
  std::u32string label;
  std::vector<float> weights;  // [rows, columns] of the sheet, rows from the top; the largest is the most orange
};
struct LookSheet {
  std::u32string title;
  image::Picture picture;
  uint32_t rows = 1, columns = 1;  // of the grid that weights refer to
  std::vector<Look> looks;
};

// Positions of the looks, in pixels from the top left corner: number i has its label at y, its picture a line below.
struct LookSheetLayout {
  int32_t width = 0, height = 0;
  int32_t line = 0;  // height of a label
  int32_t across = 1, step_x = 0, step_y = 0, left = 0, top = 0;
  [[nodiscard]] int32_t x(size_t i) const {
    return left + static_cast<int32_t>(i % static_cast<size_t>(across)) * step_x;
  }
  [[nodiscard]] int32_t y(size_t i) const {
    return top + static_cast<int32_t>(i / static_cast<size_t>(across)) * step_y;
  }
};
// Errors: numbers of pixels and weights that do not match, too many pixels for a picture.
Result<LookSheetLayout> lay_out(const LookSheet& sheet, int32_t line);

// The opacity of each part's orange, 0 to 1: its share of the largest weight.
std::vector<float> shares_of(const Look& look);
constexpr uint8_t kLookColour[3] = {255, 110, 0};
constexpr float kMostCover = 0.75f;  // opacity over the picture where a share is 1

// Both fail as lay_out() does; the SVG needs a build that writes PNG.
Result<std::string> look_sheet_svg(const LookSheet& sheet);
Result<image::Picture> draw_look_sheet(const LookSheet& sheet, Typeface& typeface);

// The content of a file.
enum class LookFormat : uint8_t { svg, png };
inline LookFormat parse_look_format(std::string_view name) { return name == "svg" ? LookFormat::svg : LookFormat::png; }
Result<std::string> look_sheet_file(const LookSheet& sheet, LookFormat format);

}  // namespace lapilli::drawing
