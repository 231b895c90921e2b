#include "image/heat_map.hpp"

#include <algorithm>
#include <cmath>

namespace lapilli::image {
namespace {

constexpr size_t kMostCells = 4000;  // a side
constexpr uint64_t kMostPixels = uint64_t{1} << 27;
constexpr int32_t kMargin = 12, kLongestLabel = 240, kScaleWidth = 14;

class Canvas {
 public:
  Canvas(uint32_t width, uint32_t height) : picture_{width, height, {}} {
    picture_.rgb.assign(size_t{width} * height * 3, 255);
  }
  void fill(int32_t x, int32_t y, int32_t w, int32_t h, const uint8_t (&rgb)[3]) {
    for (int32_t row = y; row < y + h; ++row) {
      for (int32_t column = x; column < x + w; ++column) {
        if (uint8_t* p = pixel(column, row)) std::copy(std::begin(rgb), std::end(rgb), p);
      }
    }
  }
  // Black text with its top left corner there; `upwards` turns it to read from below.
  void text(const TextImage& image, int32_t x, int32_t y, bool upwards = false) {
    for (int32_t row = 0; row < image.height; ++row) {
      for (int32_t column = 0; column < image.width; ++column) {
        const uint32_t ink =
            image.coverage[static_cast<size_t>(row) * static_cast<size_t>(image.width) + static_cast<size_t>(column)];
        if (ink == 0) continue;
        uint8_t* p = upwards ? pixel(x + row, y + image.width - 1 - column) : pixel(x + column, y + row);
        for (int k = 0; p && k < 3; ++k) p[k] = static_cast<uint8_t>(p[k] * (255 - ink) / 255);
      }
    }
  }
  Picture take() && { return std::move(picture_); }

 private:
  uint8_t* pixel(int32_t x, int32_t y) {
    if (x < 0 || y < 0 || x >= static_cast<int32_t>(picture_.width) || y >= static_cast<int32_t>(picture_.height))
      return nullptr;
    return &picture_.rgb[(static_cast<size_t>(y) * picture_.width + static_cast<size_t>(x)) * 3];
  }
  Picture picture_;
};

Error too_large(const HeatMap& map) {
  return fail(ErrorCode::unsupported, "%zu by %zu cells are too many for a picture; take the numbers as JSON",
              map.rows.size(), map.columns.size());
}

int32_t widest(const std::vector<TextImage>& labels) {
  int32_t width = 0;
  for (const TextImage& label : labels) width = std::max(width, label.width);
  return width;
}

}  // namespace

void heat_colour(float value, uint8_t (&rgb)[3]) {
  // Even steps of lightness, so that print and screens without colour show the same.
  constexpr float kStops[][3] = {{255, 255, 255}, {198, 219, 239}, {107, 174, 214}, {33, 113, 181}, {8, 48, 107}};
  const float at = (value > 0 ? std::min(value, 1.0f) : 0.0f) * 4;  // not a number counts as 0
  const auto low = std::min(static_cast<int>(at), 3);
  const float part = at - static_cast<float>(low);
  for (int k = 0; k < 3; ++k) {
    rgb[k] = static_cast<uint8_t>(std::lround(kStops[low][k] + (kStops[low + 1][k] - kStops[low][k]) * part));
  }
}

Result<Picture> draw_heat_map(const HeatMap& map, Typeface& typeface, CellGrid* grid) {
  if (map.rows.empty() || map.columns.empty() || map.values.size() != map.rows.size() * map.columns.size()) {
    return fail(ErrorCode::invalid_argument, "a heat map of %zu rows and %zu columns with %zu values", map.rows.size(),
                map.columns.size(), map.values.size());
  }
  if (map.rows.size() > kMostCells || map.columns.size() > kMostCells) {
    return fail(ErrorCode::unsupported,
                "%zu by %zu cells make no picture (%zu a side at most); take the numbers as JSON", map.rows.size(),
                map.columns.size(), kMostCells);
  }
  std::vector<TextImage> rows, columns;
  for (const auto& label : map.rows) rows.push_back(typeface.draw(label, kLongestLabel));
  for (const auto& label : map.columns) columns.push_back(typeface.draw(label, kLongestLabel));
  const int32_t line = typeface.line_height();
  const int32_t cell = line + 2;
  const auto height = static_cast<int32_t>(map.rows.size()) * cell,
             width = static_cast<int32_t>(map.columns.size()) * cell;
  const TextImage title = typeface.draw(map.title, 4000), row_title = typeface.draw(map.row_title, 600),
                  column_title = typeface.draw(map.column_title, 600);
  const int32_t left = kMargin + line + kMargin + widest(rows) + 4;
  const int32_t top = kMargin + line + kMargin + line + 4 + widest(columns) + 4;
  const TextImage one = typeface.draw(U"1", 100), zero = typeface.draw(U"0", 100);
  const int32_t right = kMargin + kScaleWidth + 4 + std::max(one.width, zero.width) + kMargin;
  const int32_t shown_height = std::max({height, row_title.width, 4 * line});
  const int32_t all_width =
      std::max({left + width + right, kMargin + title.width + kMargin, left + column_title.width + kMargin});
  const int32_t all_height = top + shown_height + kMargin;
  if (uint64_t{static_cast<uint32_t>(all_width)} * static_cast<uint32_t>(all_height) > kMostPixels) {
    return too_large(map);
  }
  Canvas canvas(static_cast<uint32_t>(all_width), static_cast<uint32_t>(all_height));
  canvas.text(title, kMargin, kMargin);
  canvas.text(column_title, left, kMargin + line + kMargin);
  canvas.text(row_title, kMargin, top + std::max(0, (height - row_title.width) / 2), true);
  constexpr uint8_t kFrame[3] = {200, 200, 200};
  canvas.fill(left - 1, top - 1, width + 1, height + 1, kFrame);
  for (size_t r = 0; r < rows.size(); ++r) {
    const int32_t y = top + static_cast<int32_t>(r) * cell;
    canvas.text(rows[r], left - 4 - rows[r].width, y);
    for (size_t c = 0; c < columns.size(); ++c) {
      uint8_t rgb[3];
      heat_colour(map.values[r * columns.size() + c], rgb);
      canvas.fill(left + static_cast<int32_t>(c) * cell, y, cell - 1, cell - 1, rgb);
    }
  }
  for (size_t c = 0; c < columns.size(); ++c) {
    canvas.text(columns[c], left + static_cast<int32_t>(c) * cell, top - 4 - columns[c].width, true);
  }
  const int32_t scale = left + width + kMargin, bar = std::min(std::max(height, 4 * line), 200);
  for (int32_t y = 0; y < bar; ++y) {
    uint8_t rgb[3];
    heat_colour(1 - static_cast<float>(y) / static_cast<float>(bar - 1), rgb);
    canvas.fill(scale, top + y, kScaleWidth, 1, rgb);
  }
  canvas.text(one, scale + kScaleWidth + 4, top - line / 4);
  canvas.text(zero, scale + kScaleWidth + 4, top + bar - line);
  if (grid) *grid = {static_cast<uint32_t>(left), static_cast<uint32_t>(top), static_cast<uint32_t>(cell)};
  return std::move(canvas).take();
}

}  // namespace lapilli::image
