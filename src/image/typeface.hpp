// Text of any script from the fonts of this system: for each character the first font that has it. A character that no
// font has becomes a box with its number in hexadecimal digits; without any font, ASCII comes from a built-in one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "image/font_file.hpp"
#include "image/stb.hpp"

namespace lapilli::image {

// Where systems keep fonts (Linux, Android, macOS, Windows): directories that only an administrator writes to.
std::vector<std::string> system_font_directories();

// Font files below `directories` that are worth a look, best first: faces of regular style, known families that cover
// much before others. At most a few thousand entries are looked at.
std::vector<std::string> find_fonts(const std::vector<std::string>& directories);

// Grey text: coverage 0 to 255.
struct TextImage {
  int32_t width = 0, height = 0;
  int32_t baseline = 0;  // rows from the top
  std::vector<uint8_t> coverage;
};

// Not for several threads at once.
class Typeface {
 public:
  // `files` as find_fonts gives them; opened as they are needed.
  Typeface(std::vector<std::string> files, float pixels);

  // In the order and with the joined forms of its script (see shaping.hpp). Never fails; wider than `max_width`, it
  // ends with an ellipsis.
  TextImage draw(std::u32string_view text, int32_t max_width);

  [[nodiscard]] int32_t line_height() const { return ascent_ + descent_; }
  // For tests: whether a font has this character.
  bool has(char32_t code) { return font_of(code) != nullptr; }

 private:
  const FontFile* font_of(char32_t code);
  const GlyphImage& glyph(char32_t code);
  [[nodiscard]] GlyphImage box(char32_t code) const;
  [[nodiscard]] GlyphImage without_font(char32_t code) const;

  std::vector<std::string> files_;
  size_t next_file_ = 0;
  std::vector<std::unique_ptr<FontFile>> fonts_;
  std::map<char32_t, GlyphImage> glyphs_;
  float pixels_;
  int32_t ascent_, descent_;
};

}  // namespace lapilli::image
