// A matrix as a picture: cells from white to dark blue, labelled rows and columns, a scale. Either SVG, whose text the
// viewer renders, so that labels may be of any script; or pixels with the simple labels of a Typeface.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "drawing/typeface.hpp"
#include "image/picture.hpp"

namespace lapilli::drawing {

struct HeatMap {
  std::u32string title, row_title, column_title;
  std::vector<std::u32string> rows, columns;  // labels
  std::vector<float> values;                  // [rows, columns], 0 to 1
};

// The room that text takes, in pixels: the height of a line, and the length of the longest label.
struct TextSizes {
  int32_t line = 0, title = 0, row_title = 0, column_title = 0, rows = 0, columns = 0;
};

// Positions of the picture's parts, in pixels from its top left corner.
struct HeatMapLayout {
  int32_t width = 0, height = 0;
  int32_t left = 0, top = 0, cell = 0;  // position of cell (0, 0), and the distance between cells
  int32_t cells_width = 0, cells_height = 0;
  int32_t title_x = 0, title_y = 0, column_title_y = 0, row_title_x = 0, row_title_y = 0;  // top left of upright text
  int32_t scale_x = 0, scale_width = 0, scale_height = 0, scale_text_x = 0;
};
constexpr int32_t kLongestLabel = 240, kLabelGap = 4;

// Errors: numbers of labels and values that do not match, too many cells for a picture.
Result<HeatMapLayout> lay_out(const HeatMap& map, const TextSizes& sizes);

// The colour of a value: lightest at 0, darkest at 1.
void heat_colour(float value, uint8_t (&rgb)[3]);

// Both fail as lay_out() does.
Result<std::string> heat_map_svg(const HeatMap& map);
Result<image::Picture> draw_heat_map(const HeatMap& map, Typeface& typeface, HeatMapLayout* layout = nullptr);

}  // namespace lapilli::drawing
