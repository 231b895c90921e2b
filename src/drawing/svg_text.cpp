#include "drawing/svg_text.hpp"

#include <cmath>

#include "base/result.hpp"
#include "drawing/label.hpp"

namespace lapilli::drawing {
namespace {

// Estimated on the wide side; in ems of the usual sans-serif fonts.
float guessed_ems(char32_t c) {
  constexpr std::u32string_view narrow = U" !'(),-./:;I[]`fijlrt|", wide = U"%@MWmw";
  if (narrow.find(c) != narrow.npos) return 0.4f;
  if (wide.find(c) != wide.npos) return 1;
  return c < 0x1100 ? 0.72f : 1.1f;  // from Hangul on most letters are square
}
float guessed_width(char32_t c) { return guessed_ems(c) * static_cast<float>(kSvgFont); }

// XML has no control characters, surrogates and noncharacters, not even escaped. Unicode's control pictures stand for
// controls.
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

}  // namespace

int32_t guessed_width(std::u32string_view text) {
  float width = 0;
  for (const char32_t c : text) width += guessed_width(c);
  return static_cast<int32_t>(std::ceil(width));
}

std::u32string shortened(std::u32string_view label, int32_t room) {
  return shorten(label, static_cast<float>(room), [](char32_t c) { return guessed_width(c); });
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

std::string text_at(int32_t x, int32_t y, std::u32string_view text) {
  return format("<text x=\"%d\" y=\"%d\">", x, y) + escaped(text) + "</text>\n";
}

std::string svg_head(int32_t width, int32_t height, std::u32string_view title) {
  return format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
             "xml:space=\"preserve\" font-family=\"sans-serif\" font-size=\"%d\" fill=\"#000\">\n",
             width, height, width, height, kSvgFont) +
         "<title>" + escaped(title) + "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
}

}  // namespace lapilli::drawing
