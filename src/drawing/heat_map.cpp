// Layout and colours, shared by both kinds of picture.
#include "drawing/heat_map.hpp"

#include <algorithm>
#include <cmath>

namespace lapilli::drawing {
namespace {

constexpr size_t kMostCells = 4000;  // per side
constexpr uint64_t kMostMapPixels = uint64_t{1} << 27;
constexpr int32_t kMargin = 12, kScaleWidth = 14, kDigitWidth = 14;

Status check(const HeatMap& map) {
  if (map.rows.empty() || map.columns.empty() || map.values.size() != map.rows.size() * map.columns.size()) {
    return fail(ErrorCode::invalid_argument, "a heat map of %u rows and %u columns with %u values", map.rows.size(),
                map.columns.size(), map.values.size());
  }
  return {};
}

Failure too_large(const HeatMap& map) {
  return fail(ErrorCode::unsupported, "%u by %u cells are too many for a picture; take the numbers as JSON",
              map.rows.size(), map.columns.size());
}

}  // namespace

Result<HeatMapLayout> lay_out(const HeatMap& map, const TextSizes& sizes) {
  LAPILLI_CHECK(check(map));
  if (map.rows.size() > kMostCells || map.columns.size() > kMostCells) return too_large(map);
  HeatMapLayout at;
  at.cell = sizes.line + 2;
  at.cells_width = static_cast<int32_t>(map.columns.size()) * at.cell;
  at.cells_height = static_cast<int32_t>(map.rows.size()) * at.cell;
  at.title_x = at.title_y = at.row_title_x = kMargin;
  at.column_title_y = kMargin + sizes.line + kMargin;
  at.left = kMargin + sizes.line + kMargin + sizes.rows + kLabelGap;
  at.top = at.column_title_y + sizes.line + kLabelGap + sizes.columns + kLabelGap;
  at.row_title_y = at.top + std::max(0, (at.cells_height - sizes.row_title) / 2);
  at.scale_x = at.left + at.cells_width + kMargin;
  at.scale_width = kScaleWidth;
  at.scale_height = std::min(std::max(at.cells_height, 4 * sizes.line), 200);
  at.scale_text_x = at.scale_x + kScaleWidth + kLabelGap;
  at.width = std::max({at.scale_text_x + kDigitWidth + kMargin, kMargin + sizes.title + kMargin,
                       at.left + sizes.column_title + kMargin});
  at.height = at.top + std::max({at.cells_height, sizes.row_title, 4 * sizes.line}) + kMargin;
  if (uint64_t{static_cast<uint32_t>(at.width)} * static_cast<uint32_t>(at.height) > kMostMapPixels)
    return too_large(map);
  return at;
}

void heat_colour(float value, uint8_t (&rgb)[3]) {
  // Even steps of lightness, so that prints and monochrome screens show the same.
  constexpr float kStops[][3] = {{255, 255, 255}, {198, 219, 239}, {107, 174, 214}, {33, 113, 181}, {8, 48, 107}};
  const float at = (value > 0 ? std::min(value, 1.0f) : 0.0f) * 4;  // NaN counts as 0
  const auto low = std::min(static_cast<int>(at), 3);
  const float part = at - static_cast<float>(low);
  for (int k = 0; k < 3; ++k) {
    rgb[k] = static_cast<uint8_t>(std::lround(kStops[low][k] + (kStops[low + 1][k] - kStops[low][k]) * part));
  }
}

}  // namespace lapilli::drawing
