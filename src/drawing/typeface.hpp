// Simple labels for pixel images: left to right, one glyph for each code point from one system font. No ligatures, no
// combining marks, no bidirectional text; characters that the font lacks are spelt as [4F60]. Without a font, ASCII
// comes from a built-in one. SVG serves where that is not enough.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "image/stb.hpp"

namespace lapilli::drawing {

// A font file in one of the system's usual places, which only an administrator writes to; "" if there is none. No other
// file is ever read as a font: see image::Font.
std::string find_font();

// Grey text: coverage 0 to 255.
struct TextImage {
  int32_t width = 0, height = 0;
  int32_t baseline = 0;  // rows from the top
  std::vector<uint8_t> coverage;
};

// Not thread-safe.
class Typeface {
 public:
  // An unusable font file counts as none.
  Typeface(const std::string& font_file, float pixels);

  // Never fails; text wider than `max_width` ends with an ellipsis.
  TextImage draw(std::u32string_view text, int32_t max_width);

  [[nodiscard]] int32_t line_height() const { return ascent_ + descent_; }
  [[nodiscard]] bool has(char32_t code) const;

 private:
  const image::GlyphImage& glyph(char32_t code);
  [[nodiscard]] std::u32string spelt(std::u32string_view text) const;

  std::optional<image::Font> font_;
  std::map<char32_t, image::GlyphImage> glyphs_;
  float pixels_;
  int32_t ascent_, descent_;
};

}  // namespace lapilli::drawing
