// Replaces stb.cpp in builds without PNG files (CMake: LAPILLI_IMAGES): no fonts, no pixel images.
#include "image/stb.hpp"

namespace lapilli::image {

struct Font::Info {};

Result<std::vector<uint8_t>> encode_png(uint32_t, uint32_t, uint32_t, std::span<const uint8_t>) {
  return fail(ErrorCode::unsupported, "this Lapilli was built without PNG files (LAPILLI_IMAGES); take SVG instead");
}

Result<Font> Font::open(const std::string&) {
  return fail(ErrorCode::unsupported, "this Lapilli was built without fonts (LAPILLI_IMAGES)");
}

bool Font::has(char32_t) const { return false; }

GlyphImage Font::draw(char32_t, float) const { return {}; }

GlyphImage draw_plain(char, uint32_t) { return {}; }

}  // namespace lapilli::image
