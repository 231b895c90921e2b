#include "text.hpp"

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#define STBTT_assert(x) ((void)0)
#include <stb_truetype.h>

namespace game {
namespace {

struct Range {
  int first, count;
};
// Latin with its accents, Greek, Cyrillic, and what typesetters use: dashes, quotes, the ellipsis, the euro.
constexpr Range kRanges[] = {{0x20, 0x160}, {0x370, 0x90}, {0x400, 0x60}, {0x2010, 0x2b}, {0x20ac, 1}};

// The code point at `at`, which moves behind it. What is no UTF-8 gives '?', one byte at a time.
int next_letter(const std::string& text, size_t& at) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(at);
  const size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
  unsigned letter = length == 1 ? first : first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if (byte(at + i) >> 6 != 2) return ++at, '?';
    letter = letter << 6 | (byte(at + i) & 0x3f);
  }
  at += length ? length : 1;
  return length ? static_cast<int>(letter) : '?';
}

}  // namespace

struct Font::Glyphs {
  std::vector<stbtt_packedchar> packed[std::size(kRanges)];

  const stbtt_packedchar& of(int letter) const {
    for (size_t r = 0; r < std::size(kRanges); ++r)
      if (letter >= kRanges[r].first && letter < kRanges[r].first + kRanges[r].count)
        return packed[r][static_cast<size_t>(letter - kRanges[r].first)];
    return packed[0]['?' - 0x20];
  }
};

Quad plain(float left, float top, float right, float bottom, Ink ink) {
  return {left, top, right, bottom, -1, -1, -1, -1, {ink.red, ink.green, ink.blue, ink.opacity}};
}

Font::Font(const std::vector<uint8_t>& file, float height)
    : height_(height), atlas_(size_t{kAtlasSize} * kAtlasSize), glyphs_(std::make_unique<Glyphs>()) {
  const int offset = file.size() < 12 ? -1 : stbtt_GetFontOffsetForIndex(file.data(), 0);
  stbtt_fontinfo info;
  if (offset < 0 || !stbtt_InitFont(&info, file.data(), offset)) throw std::runtime_error("this is no TrueType font");
  stbtt_pack_context pack;
  if (!stbtt_PackBegin(&pack, atlas_.data(), kAtlasSize, kAtlasSize, 0, 1, nullptr))
    throw std::runtime_error("no memory for the letters");
  std::vector<stbtt_pack_range> ranges;
  for (size_t r = 0; r < std::size(kRanges); ++r) {
    glyphs_->packed[r].resize(static_cast<size_t>(kRanges[r].count));
    ranges.push_back({height, kRanges[r].first, nullptr, kRanges[r].count, glyphs_->packed[r].data(), 0, 0});
  }
  const int fits = stbtt_PackFontRanges(&pack, file.data(), 0, ranges.data(), static_cast<int>(ranges.size()));
  stbtt_PackEnd(&pack);
  if (!fits) throw std::runtime_error("letters of this size do not fit into the atlas: take a smaller --size");
}

Font::~Font() = default;

float Font::width(const std::string& text, float scale) const {
  float sum = 0;
  for (size_t at = 0; at < text.size();) sum += glyphs_->of(next_letter(text, at)).xadvance;
  return sum * scale;
}

void Font::draw(std::vector<Quad>& quads, const std::string& text, Place place, Ink ink) const {
  constexpr float kTexel = 1.0f / kAtlasSize;
  for (size_t at = 0; at < text.size();) {
    const stbtt_packedchar& g = glyphs_->of(next_letter(text, at));
    if (g.x1 > g.x0) {
      const float x = place.x + g.xoff * place.scale, y = place.y + g.yoff * place.scale;
      quads.push_back({x,
                       y,
                       x + (g.xoff2 - g.xoff) * place.scale,
                       y + (g.yoff2 - g.yoff) * place.scale,
                       static_cast<float>(g.x0) * kTexel,
                       static_cast<float>(g.y0) * kTexel,
                       static_cast<float>(g.x1) * kTexel,
                       static_cast<float>(g.y1) * kTexel,
                       {ink.red, ink.green, ink.blue, ink.opacity}});
    }
    place.x += g.xadvance * place.scale;
  }
}

std::vector<std::string> Font::wrap(const std::string& text, float limit) const {
  std::vector<std::string> lines(1);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const std::string longer = lines.back().empty() ? word : lines.back() + ' ' + word;
    if (lines.back().empty() || width(longer) <= limit)
      lines.back() = longer;
    else
      lines.push_back(word);
    begin = end + 1;
  }
  return lines;
}

}  // namespace game
