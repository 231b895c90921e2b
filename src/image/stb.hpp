// The only door to the stb libraries.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace lapilli::image {

// 8 bits a channel, rows without padding; `channels`: 1 grey, 3 RGB, 4 RGBA. Errors: sizes that do not fit together.
Result<std::vector<uint8_t>> encode_png(uint32_t width, uint32_t height, uint32_t channels,
                                        std::span<const uint8_t> pixels);

// What a glyph looks like: coverage 0 to 255, `left` and `top` from the pen on the baseline (y grows downwards).
struct GlyphImage {
  int32_t left = 0, top = 0, width = 0, height = 0;
  std::vector<uint8_t> coverage;
  float advance = 0;
};

// A TrueType font; of a collection (.ttc) the first. stb_truetype trusts what it reads, so a font must come from where
// only an administrator writes, as drivers do, and never from a user or a model. Checked is that the file is whole: all
// its tables lie within it.
class Font {
 public:
  // Errors: no such file, cut off, no TrueType outlines.
  static Result<Font> open(const std::string& path);
  [[nodiscard]] bool has(char32_t code) const;
  // At `pixels` per em.
  [[nodiscard]] GlyphImage draw(char32_t code, float pixels) const;

 private:
  struct Info;
  std::shared_ptr<const Info> info_;
};

// One of ASCII's printable characters, drawn without any font; empty for another. About seven pixels high, times
// `scale`.
GlyphImage draw_plain(char c, uint32_t scale);

}  // namespace lapilli::image
