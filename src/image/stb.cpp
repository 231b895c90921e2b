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

struct Outlines::Info {
  stbtt_fontinfo font{};
};

namespace {

// An INDEX of the CFF format at `at`, which then stands behind it. False unless it lies within its table with its
// offsets in order: what stb_truetype takes for granted.
bool read_index(stbtt__buf& at, stbtt__buf& index) {
  const int start = at.cursor;
  const uint64_t count = stbtt__buf_get16(&at);
  uint64_t size = 2;
  if (count > 0) {
    const int width = stbtt__buf_get8(&at);
    if (width < 1 || width > 4 ||
        static_cast<uint64_t>(at.size - at.cursor) < (count + 1) * static_cast<uint64_t>(width)) {
      return false;
    }
    uint64_t before = 1;
    for (uint64_t i = 0; i <= count; ++i) {
      const uint64_t offset = stbtt__buf_get(&at, width);
      if (offset < before || (i == 0 && offset != 1)) return false;
      before = offset;
    }
    size = 3 + (count + 1) * static_cast<uint64_t>(width) + before - 1;
  }
  if (size > static_cast<uint64_t>(at.size - start)) return false;
  index = stbtt__buf_range(&at, start, static_cast<int>(size));
  at.cursor = start + static_cast<int>(size);
  return true;
}

// The local subroutines that a dictionary names, perhaps none.
bool read_subroutines(const stbtt__buf& table, stbtt__buf dictionary, stbtt__buf& subroutines) {
  constexpr int kPrivate = 18, kSubroutines = 19;
  stbtt_uint32 place[2] = {0, 0}, offset = 0;  // size and offset of the private dictionary
  stbtt__dict_get_ints(&dictionary, kPrivate, 2, place);
  const auto size = static_cast<uint64_t>(table.size);
  if (place[0] == 0 || place[1] == 0) return true;
  if (uint64_t{place[0]} + place[1] > size) return false;
  stbtt__buf own = stbtt__buf_range(&table, static_cast<int>(place[1]), static_cast<int>(place[0]));
  stbtt__dict_get_ints(&own, kSubroutines, 1, &offset);
  if (offset == 0) return true;
  if (uint64_t{place[1]} + offset > size) return false;
  stbtt__buf at = table;
  at.cursor = static_cast<int>(place[1] + offset);
  return read_index(at, subroutines);
}

// Every glyph chooses a dictionary, and one that is there.
bool sound_choice(stbtt__buf select, int dictionaries, int glyphs) {
  const int format = stbtt__buf_get8(&select);
  if (format == 0) {
    if (select.size - select.cursor < glyphs) return false;
    for (int i = 0; i < glyphs; ++i) {
      if (stbtt__buf_get8(&select) >= dictionaries) return false;
    }
    return true;
  }
  const int ranges = stbtt__buf_get16(&select);
  if (format != 3 || stbtt__buf_get16(&select) != 0) return false;
  int before = 0;
  for (int i = 0; i < ranges; ++i) {
    const int chosen = stbtt__buf_get8(&select), next = stbtt__buf_get16(&select);
    if (chosen >= dictionaries || next <= before) return false;
    before = next;
  }
  return before >= glyphs;
}

// A font with several dictionaries, each with its own subroutines, which are looked up glyph by glyph.
bool read_dictionaries(stbtt_fontinfo& font, uint64_t dictionaries, uint64_t select) {
  const auto size = static_cast<uint64_t>(font.cff.size);
  if (select == 0 || select >= size || dictionaries >= size) return false;
  stbtt__buf at = font.cff;
  at.cursor = static_cast<int>(dictionaries);
  if (!read_index(at, font.fontdicts)) return false;
  stbtt__buf counted = font.fontdicts;
  const int count = stbtt__buf_get16(&counted);
  for (int i = 0; i < count; ++i) {
    stbtt__buf unused{};
    if (!read_subroutines(font.cff, stbtt__cff_index_get(font.fontdicts, i), unused)) return false;
  }
  font.fdselect = stbtt__buf_range(&font.cff, static_cast<int>(select), static_cast<int>(size - select));
  return sound_choice(font.fdselect, count, font.numGlyphs);
}

// stbtt_InitFont takes a CFF table for half a gigabyte long, whatever the file's size. Here it ends where it does, and
// all that is read of it later is cut from this piece.
bool open_postscript(stbtt_fontinfo& font, std::span<const uint8_t> data, const Outlines::Place& place) {
  auto* bytes = const_cast<uint8_t*>(data.data());  // only read
  const auto table = [&](const char* tag) { return static_cast<int>(stbtt__find_table(bytes, place.offset, tag)); };
  font.data = bytes;
  font.fontstart = static_cast<int>(place.offset);
  font.head = table("head");
  font.hhea = table("hhea");
  font.hmtx = table("hmtx");
  font.numGlyphs = ttUSHORT(bytes + table("maxp") + 4);
  font.svg = -1;
  font.cff = stbtt__new_buf(bytes + place.cff_begin, place.cff_size);
  stbtt__buf at = font.cff, names{}, tops{}, strings{};
  stbtt__buf_seek(&at, 2);
  stbtt__buf_seek(&at, stbtt__buf_get8(&at));
  if (!read_index(at, names) || !read_index(at, tops) || !read_index(at, strings) || !read_index(at, font.gsubrs)) {
    return false;
  }
  if (tops.size < 4) return false;
  stbtt__buf top = stbtt__cff_index_get(tops, 0);
  constexpr int kCharStrings = 17, kKind = 0x106, kFontDicts = 0x124, kFontSelect = 0x125;
  stbtt_uint32 char_strings = 0, kind = 2, dictionaries = 0, select = 0;
  stbtt__dict_get_ints(&top, kCharStrings, 1, &char_strings);
  stbtt__dict_get_ints(&top, kKind, 1, &kind);
  stbtt__dict_get_ints(&top, kFontDicts, 1, &dictionaries);
  stbtt__dict_get_ints(&top, kFontSelect, 1, &select);
  if (char_strings == 0 || char_strings >= place.cff_size || kind != 2) return false;
  if (!read_subroutines(font.cff, top, font.subrs)) return false;
  if (dictionaries != 0 && !read_dictionaries(font, dictionaries, select)) return false;
  at.cursor = static_cast<int>(char_strings);
  if (!read_index(at, font.charstrings)) return false;
  stbtt__buf counted = font.charstrings;
  return static_cast<int>(stbtt__buf_get16(&counted)) >= font.numGlyphs;
}

}  // namespace

bool Outlines::open(Outlines& out, std::span<const uint8_t> data, const Place& place) {
  auto info = std::make_shared<Info>();
  const bool read = place.cff_size != 0 ? open_postscript(info->font, data, place)
                                        : stbtt_InitFont(&info->font, data.data(), static_cast<int>(place.offset)) != 0;
  if (!read) return false;
  out.info_ = std::move(info);
  return true;
}

GlyphImage Outlines::draw(uint32_t glyph, float pixels) const {
  GlyphImage image;
  if (!info_) return image;
  const stbtt_fontinfo& info = info_->font;
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
