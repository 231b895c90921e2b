// A picture in the host's memory, to write as PNG.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text.hpp"

namespace game {

class Image {
 public:
  Image(int wide, int high, Ink background);
  // 4 bytes a pixel, row by row: red, green, blue, and one that is ignored.
  Image(int wide, int high, const std::vector<uint8_t>& pixels);

  int width() const { return width_; }
  int height() const { return height_; }
  void blend(int x, int y, Ink ink);
  // A text's quads, with the font that made them.
  void draw(const std::vector<Quad>& quads, const Font& font);

  // Throws if the file cannot be written.
  void write_png(const std::string& path) const;

 private:
  int width_, height_;
  std::vector<uint8_t> rgb_;
};

}  // namespace game
