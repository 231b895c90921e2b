#include "image/stb.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

// stb's functions are static here, so that they never meet those of a program that uses stb itself. Its assertions end
// programs; what they assert is checked before, or made harmless by stb's own bounds.
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
#include <stb/stb_image_write.h>
#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#define STBTT_assert(x) ((void)0)
#include <stb/stb_easy_font.h>
#include <stb/stb_truetype.h>
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
    return fail(ErrorCode::invalid_argument,
                "a picture of %u by %u pixels with %u channels cannot be made of %zu bytes", width, height, channels,
                pixels.size());
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

bool Outlines::open(Outlines& out, std::span<const uint8_t> data, uint32_t offset) {
  stbtt_fontinfo info{};
  if (!stbtt_InitFont(&info, data.data(), static_cast<int>(offset))) return false;
  out.data_ = data;
  out.offset_ = offset;
  return true;
}

GlyphImage Outlines::draw(uint32_t glyph, float pixels) const {
  GlyphImage image;
  stbtt_fontinfo info{};
  if (!stbtt_InitFont(&info, data_.data(), static_cast<int>(offset_))) return image;
  const float scale = stbtt_ScaleForMappingEmToPixels(&info, pixels);
  int advance = 0, bearing = 0;
  stbtt_GetGlyphHMetrics(&info, static_cast<int>(glyph), &advance, &bearing);
  image.advance = std::clamp(static_cast<float>(advance) * scale, 0.0f, 4 * pixels);
  stbtt_vertex* vertices = nullptr;
  const int count = stbtt_GetGlyphShape(&info, static_cast<int>(glyph), &vertices);
  struct Free {
    void operator()(stbtt_vertex* p) const { STBTT_free(p, nullptr); }
  };
  const std::unique_ptr<stbtt_vertex, Free> owned(vertices);
  if (count <= 0) return image;
  // The box of the points themselves: what the file says of it may be wrong, and the rasterizer relies on it.
  float x0 = 1e9f, y0 = 1e9f, x1 = -1e9f, y1 = -1e9f;
  const auto cover = [&](float x, float y) {
    x0 = std::min(x0, x), x1 = std::max(x1, x);
    y0 = std::min(y0, y), y1 = std::max(y1, y);
  };
  for (int i = 0; i < count; ++i) {
    const stbtt_vertex& v = vertices[i];
    cover(v.x, v.y);
    if (v.type == STBTT_vcurve || v.type == STBTT_vcubic) cover(v.cx, v.cy);
    if (v.type == STBTT_vcubic) cover(v.cx1, v.cy1);
  }
  const float most = 4 * pixels;
  if (x0 * scale < -most || x1 * scale > most || y0 * scale < -most || y1 * scale > most) return image;
  image.left = static_cast<int32_t>(std::floor(x0 * scale)) - 1;
  image.top = static_cast<int32_t>(std::floor(-y1 * scale)) - 1;
  image.width = static_cast<int32_t>(std::ceil(x1 * scale)) + 1 - image.left;
  image.height = static_cast<int32_t>(std::ceil(-y0 * scale)) + 1 - image.top;
  image.coverage.assign(static_cast<size_t>(image.width) * static_cast<size_t>(image.height), 0);
  stbtt__bitmap bitmap{image.width, image.height, image.width, image.coverage.data()};
  stbtt_Rasterize(&bitmap, 0.35f, vertices, count, scale, scale, 0, 0, image.left, image.top, 1, nullptr);
  return image;
}

GlyphImage draw_plain(const std::string& text, uint32_t scale) {
  std::string printable;
  for (char c : text) {
    if (c >= ' ' && c <= '~') printable += c;
  }
  constexpr int32_t kAscent = 7, kHeight = 10;
  const auto s = static_cast<int32_t>(std::clamp<uint32_t>(scale, 1, 16));
  const int32_t width = stb_easy_font_width(printable.data());
  GlyphImage image;
  image.top = -kAscent * s;
  image.width = width * s;
  image.height = kHeight * s;
  image.advance = static_cast<float>(width * s);
  image.coverage.assign(static_cast<size_t>(image.width) * static_cast<size_t>(image.height), 0);
  struct Vertex {
    float x, y, z;
    uint8_t color[4];
  };
  std::vector<Vertex> vertices((printable.size() + 1) * 4 * 32);
  const int quads = stb_easy_font_print(0, 0, printable.data(), nullptr, vertices.data(),
                                        static_cast<int>(vertices.size() * sizeof(Vertex)));
  for (int q = 0; q < quads; ++q) {
    const Vertex &from = vertices[static_cast<size_t>(q) * 4], &to = vertices[static_cast<size_t>(q) * 4 + 2];
    for (int32_t y = static_cast<int32_t>(from.y) * s; y < static_cast<int32_t>(to.y) * s; ++y) {
      for (int32_t x = static_cast<int32_t>(from.x) * s; x < static_cast<int32_t>(to.x) * s; ++x) {
        if (x >= 0 && x < image.width && y >= 0 && y < image.height) {
          image.coverage[static_cast<size_t>(y) * static_cast<size_t>(image.width) + static_cast<size_t>(x)] = 255;
        }
      }
    }
  }
  return image;
}

}  // namespace lapilli::image
