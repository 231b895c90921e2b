// Attention overlays: a copy of a picture for each word, with a label above and the parts attended to covered in
// orange. Either SVG, which holds the picture once, or pixels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "drawing/typeface.hpp"
#include "image/picture.hpp"

namespace lapilli::drawing {

struct Overlay {
  std::u32string label;
  std::vector<float> weights;  // [rows, columns] of the sheet, rows from the top; the largest is the most orange
};
struct OverlaySheet {
  std::u32string title;
  image::Picture picture;
  uint32_t rows = 1, columns = 1;  // of the grid that weights refer to
  std::vector<Overlay> overlays;
};

// Positions of the overlays, in pixels from the top left corner: number i has its label at y, its picture a line below.
struct OverlayLayout {
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
Result<OverlayLayout> lay_out(const OverlaySheet& sheet, int32_t line);

// The opacity of each part's orange, 0 to 1: its share of the largest weight.
std::vector<float> shares_of(const Overlay& overlay);
constexpr uint8_t kOverlayColour[3] = {255, 110, 0};
constexpr float kMostCover = 0.75f;  // opacity over the picture where a share is 1

// Both fail as lay_out() does; the SVG needs a build that writes PNG.
Result<std::string> overlay_sheet_svg(const OverlaySheet& sheet);
Result<image::Picture> draw_overlay_sheet(const OverlaySheet& sheet, Typeface& typeface);

// The content of a file.
enum class OverlayFormat : uint8_t { svg, png };
Result<std::string> overlay_sheet_file(const OverlaySheet& sheet, OverlayFormat format);

}  // namespace lapilli::drawing
