// The SVG holds labels as text: the viewer has fonts, directions and ligatures for every script; only the room that
// text takes must be guessed. The picture has a white background, so that it looks the same in dark and light viewers.
#include <algorithm>
#include <cmath>

#include "drawing/heat_map.hpp"
#include "drawing/svg_text.hpp"

namespace lapilli::drawing {
namespace {

std::vector<std::u32string> all_shortened(const std::vector<std::u32string>& labels) {
  std::vector<std::u32string> out;
  for (const auto& label : labels) out.push_back(shortened(label, kLongestLabel));
  return out;
}

int32_t widest(const std::vector<std::u32string>& labels) {
  int32_t width = 0;
  for (const auto& label : labels) width = std::max(width, guessed_width(label));
  return width;
}

std::string colour(float value) {
  uint8_t rgb[3];
  heat_colour(value, rgb);
  return format("#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

// The text reads upwards; the baseline is at `x`.
std::string text_upwards(int32_t x, int32_t y, std::u32string_view text) {
  return format("<text transform=\"translate(%d %d) rotate(-90)\">", x, y) + escaped(text) + "</text>\n";
}

void append_head(std::string& out, const HeatMap& map, const HeatMapLayout& at) {
  out += svg_head(at.width, at.height, map.title) + "<defs><linearGradient id=\"scale\" x2=\"0\" y2=\"1\">";
  for (int i = 0; i <= 4; ++i) {
    out += format("<stop offset=\"%d%%\" stop-color=\"", 25 * i) + colour(1 - static_cast<float>(i) / 4) + "\"/>";
  }
  out += "</linearGradient></defs>\n";
}

void append_titles(std::string& out, const HeatMap& map, const HeatMapLayout& at) {
  out += text_at(at.title_x, at.title_y + kSvgBaseline, map.title);
  out += text_at(at.left, at.column_title_y + kSvgBaseline, map.column_title);
  out += text_upwards(at.row_title_x + kSvgBaseline, at.row_title_y + guessed_width(map.row_title), map.row_title);
}

void append_labels(std::string& out, const std::vector<std::u32string>& rows,
                   const std::vector<std::u32string>& columns, const HeatMapLayout& at) {
  out += "<g text-anchor=\"end\">\n";
  int32_t y = at.top + kSvgBaseline;
  for (const auto& label : rows) out += text_at(at.left - kLabelGap, y, label), y += at.cell;
  out += "</g>\n";
  int32_t x = at.left + kSvgBaseline;
  for (const auto& label : columns) out += text_upwards(x, at.top - kLabelGap, label), x += at.cell;
}

// Viewers show a cell's title when the pointer rests on it. Whole percents look the same in every locale.
std::string cell(int32_t x, int32_t size, float value) {
  const float part = value > 0 ? std::min(value, 1.0f) : 0.0f;
  return format("<rect x=\"%d\" width=\"%d\" height=\"%d\" fill=\"", x, size, size) + colour(value) +
         format("\"><title>%d%%</title></rect>", std::lround(part * 100));
}

void append_cells(std::string& out, const HeatMap& map, const HeatMapLayout& at) {
  out += format("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#c8c8c8\"/>\n", at.left - 1, at.top - 1,
                at.cells_width + 1, at.cells_height + 1);
  for (size_t r = 0; r < map.rows.size(); ++r) {
    out += format("<g transform=\"translate(%d %d)\">", at.left, at.top + static_cast<int32_t>(r) * at.cell);
    for (size_t c = 0; c < map.columns.size(); ++c) {
      out += cell(static_cast<int32_t>(c) * at.cell, at.cell - 1, map.values[r * map.columns.size() + c]);
    }
    out += "</g>\n";
  }
}

void append_scale(std::string& out, const HeatMapLayout& at) {
  out += format("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"url(#scale)\" stroke=\"#c8c8c8\"/>\n",
                at.scale_x, at.top, at.scale_width, at.scale_height);
  out += text_at(at.scale_text_x, at.top + kSvgFont / 2, U"1");
  out += text_at(at.scale_text_x, at.top + at.scale_height, U"0");
}

}  // namespace

Result<std::string> heat_map_svg(const HeatMap& map) {
  const auto rows = all_shortened(map.rows), columns = all_shortened(map.columns);
  LAPILLI_TRY(const HeatMapLayout at, lay_out(map, {kSvgLine, guessed_width(map.title), guessed_width(map.row_title),
                                                    guessed_width(map.column_title), widest(rows), widest(columns)}));
  std::string out;
  append_head(out, map, at);
  append_titles(out, map, at);
  append_cells(out, map, at);
  append_labels(out, rows, columns, at);
  append_scale(out, at);
  return out + "</svg>\n";
}

}  // namespace lapilli::drawing
