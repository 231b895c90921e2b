// The SVG holds labels as text: the viewer has fonts, directions and joined letters for every script. Only how much
// room they take has to be guessed. It brings its own white ground, so that it looks the same in dark and light
// viewers.
#include <algorithm>
#include <cmath>

#include "image/heat_map.hpp"
#include "image/label.hpp"

namespace lapilli::image {
namespace {

constexpr int32_t kFontPixels = 14, kLine = 20, kBaseline = 15;  // of a line: its font, its height, where letters stand

// Rather too wide than too narrow; in ems of the usual sans-serif fonts.
float guessed_ems(char32_t c) {
  constexpr std::u32string_view narrow = U" !'(),-./:;I[]`fijlrt|", wide = U"%@MWmw";
  if (narrow.find(c) != narrow.npos) return 0.4f;
  if (wide.find(c) != wide.npos) return 1;
  return c < 0x1100 ? 0.72f : 1.1f;  // from Hangul on most letters are square
}
float guessed_width(char32_t c) { return guessed_ems(c) * static_cast<float>(kFontPixels); }

int32_t guessed_width(std::u32string_view text) {
  float width = 0;
  for (const char32_t c : text) width += guessed_width(c);
  return static_cast<int32_t>(std::ceil(width));
}

std::vector<std::u32string> shortened(const std::vector<std::u32string>& labels) {
  std::vector<std::u32string> out;
  for (const auto& label : labels) {
    out.push_back(shorten(label, static_cast<float>(kLongestLabel), [](char32_t c) { return guessed_width(c); }));
  }
  return out;
}

int32_t widest(const std::vector<std::u32string>& labels) {
  int32_t width = 0;
  for (const auto& label : labels) width = std::max(width, guessed_width(label));
  return width;
}

// XML has no controls, surrogates and noncharacters, not even escaped. Controls are shown by Unicode's pictures of
// them.
char32_t allowed_in_xml(char32_t c) {
  if (c < 0x20) return 0x2400 + c;
  if (c == 0x7F) return 0x2421;
  const bool refused = (c >= 0x80 && c < 0xA0) || (c >= 0xD800 && c < 0xE000) || (c & 0xFFFE) == 0xFFFE || c > 0x10FFFF;
  return refused ? 0xFFFD : c;
}

void append_encoded(std::string& out, char32_t c) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6)), tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12)), tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | (c >> 18)), tail(12), tail(6), tail(0);
  }
}

std::string escaped(std::u32string_view text) {
  std::string out;
  for (const char32_t c : text) {
    switch (c) {
      case U'&': out += "&amp;"; break;
      case U'<': out += "&lt;"; break;
      case U'>': out += "&gt;"; break;
      default: append_encoded(out, allowed_in_xml(c));
    }
  }
  return out;
}

std::string colour(float value) {
  uint8_t rgb[3];
  heat_colour(value, rgb);
  return format("#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

std::string text_at(int32_t x, int32_t y, std::u32string_view text) {
  return format("<text x=\"%d\" y=\"%d\">", x, y) + escaped(text) + "</text>\n";
}
// Reads from below; the baseline is at `x`.
std::string text_upwards(int32_t x, int32_t y, std::u32string_view text) {
  return format("<text transform=\"translate(%d %d) rotate(-90)\">", x, y) + escaped(text) + "</text>\n";
}

void append_head(std::string& out, const HeatMap& map, const HeatMapLayout& at) {
  out += format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
      "xml:space=\"preserve\" "
      "font-family=\"sans-serif\" font-size=\"%d\" fill=\"#000\">\n",
      at.width, at.height, at.width, at.height, kFontPixels);
  out += "<title>" + escaped(map.title) + "</title>\n<defs><linearGradient id=\"scale\" x2=\"0\" y2=\"1\">";
  for (int i = 0; i <= 4; ++i) {
    out += format("<stop offset=\"%d%%\" stop-color=\"", 25 * i) + colour(1 - static_cast<float>(i) / 4) + "\"/>";
  }
  out += "</linearGradient></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
}

void append_titles(std::string& out, const HeatMap& map, const HeatMapLayout& at) {
  out += text_at(at.title_x, at.title_y + kBaseline, map.title);
  out += text_at(at.left, at.column_title_y + kBaseline, map.column_title);
  out += text_upwards(at.row_title_x + kBaseline, at.row_title_y + guessed_width(map.row_title), map.row_title);
}

void append_labels(std::string& out, const std::vector<std::u32string>& rows,
                   const std::vector<std::u32string>& columns, const HeatMapLayout& at) {
  out += "<g text-anchor=\"end\">\n";
  int32_t y = at.top + kBaseline;
  for (const auto& label : rows) out += text_at(at.left - kLabelGap, y, label), y += at.cell;
  out += "</g>\n";
  int32_t x = at.left + kBaseline;
  for (const auto& label : columns) out += text_upwards(x, at.top - kLabelGap, label), x += at.cell;
}

// Viewers show a cell's title when the pointer rests on it. Whole percents: they are the same in every locale.
std::string cell(int32_t x, int32_t size, float value) {
  const float part = value > 0 ? std::min(value, 1.0f) : 0.0f;
  return format("<rect x=\"%d\" width=\"%d\" height=\"%d\" fill=\"", x, size, size) + colour(value) +
         format("\"><title>%ld%%</title></rect>", std::lround(part * 100));
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
  out += text_at(at.scale_text_x, at.top + kFontPixels / 2, U"1");
  out += text_at(at.scale_text_x, at.top + at.scale_height, U"0");
}

}  // namespace

Result<std::string> heat_map_svg(const HeatMap& map) {
  const auto rows = shortened(map.rows), columns = shortened(map.columns);
  LAPILLI_TRY(const HeatMapLayout at, lay_out(map, {kLine, guessed_width(map.title), guessed_width(map.row_title),
                                                    guessed_width(map.column_title), widest(rows), widest(columns)}));
  std::string out;
  append_head(out, map, at);
  append_titles(out, map, at);
  append_cells(out, map, at);
  append_labels(out, rows, columns, at);
  append_scale(out, at);
  return out + "</svg>\n";
}

}  // namespace lapilli::image
