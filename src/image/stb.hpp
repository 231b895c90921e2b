// The only interface to the stb libraries.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace lapilli::image {

// 8 bits a channel, rows without padding; `channels`: 1 grey, 3 RGB, 4 RGBA. Errors: sizes that do not match.
Result<std::vector<uint8_t>> encode_png(uint32_t width, uint32_t height, uint32_t channels,
                                        std::span<const uint8_t> pixels);

// A rendered glyph: coverage 0 to 255, `left` and `top` from the pen on the baseline (y grows downwards).
struct GlyphImage {
  int32_t left = 0, top = 0, width = 0, height = 0;
  std::vector<uint8_t> coverage;
  float advance = 0;
};

// A TrueType font; the first one of a collection (.ttc). stb_truetype trusts its input, so a font must come from a
// directory that only an administrator writes to, like drivers, and never from a user or a model. open() checks that
// all tables lie within the file.
class Font {
 public:
  // Errors: no such file, truncated, no TrueType outlines.
  static Result<Font> open(const std::string& path);
  [[nodiscard]] bool has(char32_t code) const;
  // Renders at `pixels` per em.
  [[nodiscard]] GlyphImage draw(char32_t code, float pixels) const;

 private:
  struct Info;
  std::shared_ptr<const Info> info_;
};

// Draws a printable ASCII character without any font; empty for other characters. About seven pixels high, times
// `scale`.
GlyphImage draw_plain(char c, uint32_t scale);

}  // namespace lapilli::image
