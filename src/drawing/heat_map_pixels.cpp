#include <algorithm>

#include "drawing/canvas.hpp"
#include "drawing/heat_map.hpp"

namespace lapilli::drawing {
namespace {

// All text of the map, rendered.
struct Texts {
  TextImage title, row_title, column_title;
  std::vector<TextImage> rows, columns;
};

std::vector<TextImage> draw_labels(const std::vector<std::u32string>& labels, Typeface& typeface) {
  std::vector<TextImage> images;
  for (const auto& label : labels) images.push_back(typeface.draw(label, kLongestLabel));
  return images;
}

Texts draw_texts(const HeatMap& map, Typeface& typeface) {
  constexpr int32_t kLongestTitle = 4000, kLongestAxis = 600;
  return {typeface.draw(map.title, kLongestTitle), typeface.draw(map.row_title, kLongestAxis),
          typeface.draw(map.column_title, kLongestAxis), draw_labels(map.rows, typeface),
          draw_labels(map.columns, typeface)};
}

int32_t widest(const std::vector<TextImage>& labels) {
  int32_t width = 0;
  for (const TextImage& label : labels) width = std::max(width, label.width);
  return width;
}

void paint_texts(Canvas& canvas, const Texts& texts, const HeatMapLayout& at) {
  canvas.text(texts.title, at.title_x, at.title_y);
  canvas.text(texts.column_title, at.left, at.column_title_y);
  canvas.text(texts.row_title, at.row_title_x, at.row_title_y, true);
  for (size_t r = 0; r < texts.rows.size(); ++r) {
    const TextImage& label = texts.rows[r];
    canvas.text(label, at.left - kLabelGap - label.width, at.top + static_cast<int32_t>(r) * at.cell);
  }
  for (size_t c = 0; c < texts.columns.size(); ++c) {
    const TextImage& label = texts.columns[c];
    canvas.text(label, at.left + static_cast<int32_t>(c) * at.cell, at.top - kLabelGap - label.width, true);
  }
}

void paint_cells(Canvas& canvas, const HeatMap& map, const HeatMapLayout& at) {
  constexpr uint8_t kFrame[3] = {200, 200, 200};
  canvas.fill(at.left - 1, at.top - 1, at.cells_width + 1, at.cells_height + 1, kFrame);
  for (size_t i = 0; i < map.values.size(); ++i) {
    const auto r = static_cast<int32_t>(i / map.columns.size()), c = static_cast<int32_t>(i % map.columns.size());
    uint8_t rgb[3];
    heat_colour(map.values[i], rgb);
    canvas.fill(at.left + c * at.cell, at.top + r * at.cell, at.cell - 1, at.cell - 1, rgb);
  }
}

void paint_scale(Canvas& canvas, Typeface& typeface, const HeatMapLayout& at) {
  for (int32_t y = 0; y < at.scale_height; ++y) {
    uint8_t rgb[3];
    heat_colour(1 - static_cast<float>(y) / static_cast<float>(at.scale_height - 1), rgb);
    canvas.fill(at.scale_x, at.top + y, at.scale_width, 1, rgb);
  }
  const int32_t line = typeface.line_height();
  canvas.text(typeface.draw(U"1", line), at.scale_text_x, at.top - line / 4);
  canvas.text(typeface.draw(U"0", line), at.scale_text_x, at.top + at.scale_height - line);
}

}  // namespace

Result<image::Picture> draw_heat_map(const HeatMap& map, Typeface& typeface, HeatMapLayout* layout) {
  const Texts texts = draw_texts(map, typeface);
  LAPILLI_TRY(const HeatMapLayout at,
              lay_out(map, {typeface.line_height(), texts.title.width, texts.row_title.width, texts.column_title.width,
                            widest(texts.rows), widest(texts.columns)}));
  Canvas canvas(static_cast<uint32_t>(at.width), static_cast<uint32_t>(at.height));
  paint_texts(canvas, texts, at);
  paint_cells(canvas, map, at);
  paint_scale(canvas, typeface, at);
  if (layout) *layout = at;
  return std::move(canvas).take();
}

}  // namespace lapilli::drawing
