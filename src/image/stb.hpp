// The only door to the stb libraries.
#pragma once

#include <cstdint>
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

// A font file whose tables FontFile has checked; `data` must live as long.
class Outlines {
 public:
  // Null if stb_truetype does not read this font. `offset`: of the font within a collection.
  static bool open(Outlines& out, std::span<const uint8_t> data, uint32_t offset);
  // The glyph at `pixels` per em; empty if it is larger than four ems.
  [[nodiscard]] GlyphImage draw(uint32_t glyph, float pixels) const;

 private:
  std::span<const uint8_t> data_;
  uint32_t offset_ = 0;
};

// Text in ASCII's printable characters, drawn without any font; others are left out. About seven pixels high, times
// `scale`. The pen starts at the left edge on the baseline.
GlyphImage draw_plain(const std::string& text, uint32_t scale);

}  // namespace lapilli::image
