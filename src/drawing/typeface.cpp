#include "drawing/typeface.hpp"

#include <algorithm>
#include <cmath>

#include "base/path.hpp"
#include "drawing/label.hpp"

namespace lapilli::drawing {
namespace {

// Fonts for many European and some other scripts. Full paths: nothing is searched for, so no unexpected file is read.
constexpr const char* kFonts[] = {
#if defined(_WIN32)
    "C:/Windows/Fonts/segoeui.ttf",
    "C:/Windows/Fonts/arial.ttf",
#elif defined(__APPLE__)
    "/System/Library/Fonts/Supplemental/Arial Unicode.ttf",
    "/System/Library/Fonts/Supplemental/Arial.ttf",
    "/System/Library/Fonts/Helvetica.ttc",
#elif defined(__ANDROID__)
    "/system/fonts/Roboto-Regular.ttf",
    "/system/fonts/DroidSans.ttf",
#else
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",    // Debian, Ubuntu
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",  // Fedora
    "/usr/share/fonts/TTF/DejaVuSans.ttf",                // Arch
    "/usr/share/fonts/dejavu/DejaVuSans.ttf",             // Gentoo, Alpine
    "/usr/share/fonts/truetype/DejaVuSans.ttf",           // openSUSE
    "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
    "/usr/share/fonts/noto/NotoSans-Regular.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
    "/usr/share/fonts/liberation/LiberationSans-Regular.ttf",
#endif
};

// Draws `image` with its pen at (x, baseline); the darker pixel wins where they overlap.
void paint(TextImage& onto, const image::GlyphImage& image, int32_t x) {
  for (int32_t row = 0; row < image.height; ++row) {
    const int32_t y = onto.baseline + image.top + row;
    if (y < 0 || y >= onto.height) continue;
    for (int32_t column = 0; column < image.width; ++column) {
      const int32_t at = x + image.left + column;
      if (at < 0 || at >= onto.width) continue;
      uint8_t& pixel =
          onto.coverage[static_cast<size_t>(y) * static_cast<size_t>(onto.width) + static_cast<size_t>(at)];
      pixel = std::max(
          pixel,
          image.coverage[static_cast<size_t>(row) * static_cast<size_t>(image.width) + static_cast<size_t>(column)]);
    }
  }
}

}  // namespace

std::string find_font() {
  for (const char* path : kFonts) {
    if (file_exists(path)) return path;
  }
  return "";
}

Typeface::Typeface(const std::string& font_file, float pixels)
    : pixels_(std::clamp(pixels, 6.0f, 96.0f)),
      ascent_(static_cast<int32_t>(std::ceil(pixels_ * 1.05f))),
      descent_(static_cast<int32_t>(std::ceil(pixels_ * 0.35f))) {
  if (auto font = image::Font::open(font_file)) font_ = std::move(*font);
}

bool Typeface::has(char32_t code) const { return font_ ? font_->has(code) : code >= U' ' && code <= U'~'; }

std::u32string Typeface::spelt(std::u32string_view text) const {
  std::u32string out;
  for (const char32_t code : text) {
    if (has(code)) {
      out += code;
    } else {
      for (const char c : format("[%04X]", static_cast<unsigned>(code))) out += static_cast<char32_t>(c);
    }
  }
  return out;
}

const image::GlyphImage& Typeface::glyph(char32_t code) {
  if (const auto known = glyphs_.find(code); known != glyphs_.end()) return known->second;
  image::GlyphImage image = font_ ? font_->draw(code, pixels_)
                                  : image::draw_plain(static_cast<char>(code), static_cast<uint32_t>(pixels_ / 10));
  return glyphs_.emplace(code, std::move(image)).first->second;
}

TextImage Typeface::draw(std::u32string_view text, int32_t max_width) {
  constexpr size_t kMostCharacters = 1000;  // longer labels are cut
  const auto width_of = [this](char32_t code) { return glyph(code).advance; };
  const std::u32string shown = shorten(spelt(text.substr(0, kMostCharacters)), static_cast<float>(max_width), width_of);
  float width = 0;
  for (const char32_t code : shown) width += width_of(code);
  TextImage out{static_cast<int32_t>(std::ceil(width)) + 2, line_height(), ascent_, {}};
  out.coverage.assign(static_cast<size_t>(out.width) * static_cast<size_t>(out.height), 0);
  float x = 1;
  for (const char32_t code : shown) {
    paint(out, glyph(code), static_cast<int32_t>(std::lround(x)));
    x += width_of(code);
  }
  return out;
}

}  // namespace lapilli::drawing
