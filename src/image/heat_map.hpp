// A matrix as a picture: cells from white to dark blue, rows and columns with labels, a scale.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "image/typeface.hpp"

namespace lapilli::image {

struct HeatMap {
  std::u32string title, row_title, column_title;
  std::vector<std::u32string> rows, columns;  // labels
  std::vector<float> values;                  // [rows, columns], 0 to 1
};

struct Picture {
  uint32_t width = 0, height = 0;
  std::vector<uint8_t> rgb;
};

// Where cell (0, 0) lies and how large cells are, in pixels.
struct CellGrid {
  uint32_t left = 0, top = 0, size = 0;
};

// Errors: numbers of labels and values that do not agree, more cells than a picture can hold.
Result<Picture> draw_heat_map(const HeatMap& map, Typeface& typeface, CellGrid* grid = nullptr);

// The colour of a value: lightest at 0, darkest at 1.
void heat_colour(float value, uint8_t (&rgb)[3]);

}  // namespace lapilli::image
