// Tests the stand-ins for stb.cpp and picture_stb.cpp in builds without it (LAPILLI_IMAGES=OFF): every answer says so,
// or is empty.
#include <cstdio>
#include <cstdlib>

#include "image/picture.hpp"
#include "image/stb.hpp"

namespace {
void check(bool holds, const char* what) {
  if (holds) return;
  std::printf("FAILED: %s\n", what);
  std::exit(1);
}
bool says(const lapilli::Error& error, const char* part) { return error.message.find(part) != std::string::npos; }
}  // namespace

int main() {
  const uint8_t pixel[3] = {1, 2, 3};
  const auto png = lapilli::image::encode_png(1, 1, 3, pixel);
  check(!png.ok() && png.error().code == lapilli::ErrorCode::unsupported, "a PNG file is refused");
  check(says(png.error(), "built without PNG files (LAPILLI_IMAGES); take SVG instead"), "with what to do");
  const auto font = lapilli::image::Font::open("any.ttf");
  check(!font.ok() && says(font.error(), "LAPILLI_IMAGES"), "a font is refused");
  check(lapilli::image::draw_plain('a', 1).coverage.empty(), "no character is drawn");
  const auto picture = lapilli::image::decode_picture(std::as_bytes(std::span(pixel)), "a.png");
  check(!picture.ok() && says(picture.error(), "LAPILLI_IMAGES"), "a picture is refused");
  return 0;
}
