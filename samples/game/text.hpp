// Letters as rectangles of an atlas, by stb_truetype.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace game {

// One rectangle, as the glyph shader reads it. A plain one has a texture box below 0.
struct Quad {
  float left, top, right, bottom;          // pixels, from the upper left
  float u_left, v_top, u_right, v_bottom;  // in the atlas, 0 to 1
  float ink[4];                            // red, green, blue, opacity; 0 to 1
};

struct Ink {
  float red, green, blue, opacity = 1;
};

Quad plain(float left, float top, float right, float bottom, Ink ink);

// Where a text stands: its base line's left end, and its size as a part of the font's.
struct Place {
  float x, y, scale = 1;
};

// Latin, Greek and Cyrillic letters of one font. Others are shown as "?".
class Font {
 public:
  // `height` in pixels. Throws if the bytes are no font.
  Font(const std::vector<uint8_t>& file, float height);
  ~Font();

  static constexpr uint32_t kAtlasSize = 1024;  // width and height
  const std::vector<uint8_t>& atlas() const { return atlas_; }

  float height() const { return height_; }
  float width(const std::string& text, float scale = 1) const;
  void draw(std::vector<Quad>& quads, const std::string& text, Place place, Ink ink) const;
  // Cut at spaces so that no line is wider, but for one that is a single word.
  std::vector<std::string> wrap(const std::string& text, float limit) const;

 private:
  struct Glyphs;
  float height_;
  std::vector<uint8_t> atlas_;
  std::unique_ptr<Glyphs> glyphs_;
};

}  // namespace game
