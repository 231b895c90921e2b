#include "image/stb.hpp"

#include <algorithm>
#include <memory>

#include "base/mapped_file.hpp"

// stb's functions are static here, so that they never clash with those of a program that uses stb itself. Its
// assertions are off, as they would abort.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wcast-qual"
#endif
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#define STBIW_ASSERT(x) ((void)0)
#include <stb_image_write.h>
#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#define STBTT_assert(x) ((void)0)
#include <stb_easy_font.h>
#include <stb_truetype.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace lapilli::image {

Result<std::vector<uint8_t>> encode_png(uint32_t width, uint32_t height, uint32_t channels,
                                        std::span<const uint8_t> pixels) {
  constexpr uint64_t kLargest = uint64_t{1} << 29;  // bytes; stb counts in int
  const uint64_t bytes = uint64_t{width} * height * channels;
  if (width == 0 || height == 0 || channels == 0 || channels > 4 || width > (1u << 20) || height > (1u << 20) ||
      bytes > kLargest || bytes != pixels.size()) {
    return fail(ErrorCode::invalid_argument, "a picture of %u by %u pixels with %u channels cannot be made of %u bytes",
                width, height, channels, pixels.size());
  }
  int size = 0;
  struct Free {
    void operator()(unsigned char* p) const { STBIW_FREE(p); }
  };
  const std::unique_ptr<unsigned char, Free> png(
      stbi_write_png_to_mem(pixels.data(), static_cast<int>(width * channels), static_cast<int>(width),
                            static_cast<int>(height), static_cast<int>(channels), &size));
  if (!png || size <= 0) return fail(ErrorCode::out_of_memory, "no memory for a picture of %u by %u", width, height);
  return std::vector<uint8_t>(png.get(), png.get() + size);
}

struct Font::Info {
  MappedFile file;
  stbtt_fontinfo font{};
};

namespace {

uint64_t number(std::span<const uint8_t> data, uint64_t at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | data[at + static_cast<uint64_t>(i)];
  return value;
}

// Finds where the font begins. True if its directory and all tables lie within the file and it has TrueType outlines.
bool whole(std::span<const uint8_t> data, uint64_t& begin) {
  constexpr uint64_t kCollection = 0x74746366, kOutlines = 0x676C7966;  // "ttcf", "glyf"
  if (data.size() < 16 || data.size() > (uint64_t{1} << 30)) return false;
  begin = number(data, 0, 4) == kCollection ? number(data, 12, 4) : 0;
  if (begin + 12 > data.size()) return false;
  const uint64_t tables = number(data, begin + 4, 2);
  if (begin + 12 + 16 * tables > data.size()) return false;
  bool outlines = false;
  for (uint64_t table = begin + 12; table < begin + 12 + 16 * tables; table += 16) {
    if (number(data, table + 8, 4) + number(data, table + 12, 4) > data.size()) return false;
    outlines = outlines || number(data, table, 4) == kOutlines;
  }
  return outlines;
}

}  // namespace

Result<Font> Font::open(const std::string& path) {
  LAPILLI_TRY(auto file, MappedFile::open(path));
  const auto bytes = file.bytes();
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  auto info = std::make_shared<Info>();
  uint64_t begin = 0;
  if (!whole({data, bytes.size()}, begin) || !stbtt_InitFont(&info->font, data, static_cast<int>(begin))) {
    return fail(ErrorCode::unsupported, "%s is no TrueType font, or is cut off", path);
  }
  info->file = std::move(file);
  Font font;
  font.info_ = std::move(info);
  return font;
}

bool Font::has(char32_t code) const { return stbtt_FindGlyphIndex(&info_->font, static_cast<int>(code)) != 0; }

GlyphImage Font::draw(char32_t code, float pixels) const {
  const stbtt_fontinfo& font = info_->font;
  const float scale = stbtt_ScaleForMappingEmToPixels(&font, pixels);
  const int glyph = stbtt_FindGlyphIndex(&font, static_cast<int>(code));
  int advance = 0, bearing = 0;
  stbtt_GetGlyphHMetrics(&font, glyph, &advance, &bearing);
  GlyphImage image;
  image.advance = static_cast<float>(advance) * scale;
  struct Free {
    void operator()(unsigned char* p) const { stbtt_FreeBitmap(p, nullptr); }
  };
  const std::unique_ptr<unsigned char, Free> bitmap(
      stbtt_GetGlyphBitmap(&font, scale, scale, glyph, &image.width, &image.height, &image.left, &image.top));
  if (bitmap) {
    image.coverage.assign(bitmap.get(), bitmap.get() + static_cast<ptrdiff_t>(image.width) * image.height);
  } else {
    image.width = image.height = 0;
  }
  return image;
}

GlyphImage draw_plain(char c, uint32_t scale) {
  constexpr int32_t kAscent = 7, kHeight = 10, kMostQuads = 64;
  GlyphImage image;
  if (c < ' ' || c > '~') return image;
  char text[] = {c, 0};
  const auto s = static_cast<int32_t>(std::clamp<uint32_t>(scale, 1, 16));
  image.top = -kAscent * s;
  image.width = stb_easy_font_width(text) * s;
  image.height = kHeight * s;
  image.advance = static_cast<float>(image.width + s - 1);
  image.coverage.assign(static_cast<size_t>(image.width) * static_cast<size_t>(image.height), 0);
  struct Vertex {
    float x, y, z;
    uint8_t color[4];
  };
  Vertex corners[kMostQuads * 4];
  const int quads = stb_easy_font_print(0, 0, text, nullptr, corners, sizeof corners);
  for (int q = 0; q < quads; ++q) {
    const Vertex &from = corners[q * 4], &to = corners[q * 4 + 2];
    for (int32_t y = static_cast<int32_t>(from.y) * s; y < std::min(static_cast<int32_t>(to.y) * s, image.height);
         ++y) {
      for (int32_t x = static_cast<int32_t>(from.x) * s; x < std::min(static_cast<int32_t>(to.x) * s, image.width);
           ++x) {
        image.coverage[static_cast<size_t>(y) * static_cast<size_t>(image.width) + static_cast<size_t>(x)] = 255;
      }
    }
  }
  return image;
}

}  // namespace lapilli::image
