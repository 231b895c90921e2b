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

// The outlines of a font whose tables FontFile has checked; its bytes must live as long.
class Outlines {
 public:
  struct Place {
    uint32_t offset = 0;                   // of the font within a collection
    uint64_t cff_begin = 0, cff_size = 0;  // the table of PostScript outlines; size 0: TrueType outlines
  };
  // False if stb_truetype does not read this font.
  static bool open(Outlines& out, std::span<const uint8_t> data, const Place& place);
  // The glyph at `pixels` per em; empty if it is larger than four ems.
  [[nodiscard]] GlyphImage draw(uint32_t glyph, float pixels) const;

 private:
  struct Info;
  std::shared_ptr<const Info> info_;
};

// Text in ASCII's printable characters, drawn without any font; others are left out. About seven pixels high, times
// `scale`. The pen starts at the left edge on the baseline.
GlyphImage draw_plain(const std::string& text, uint32_t scale);

}  // namespace lapilli::image
