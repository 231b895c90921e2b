#include "image/font_file.hpp"

#include <algorithm>
#include <cstring>

namespace lapilli::image {

Result<FontFile> FontFile::open(const std::string& path) {
  LAPILLI_TRY(auto file, MappedFile::open(path));
  const auto bytes = file.bytes();
  LAPILLI_TRY(auto font, read({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, path));
  font.file_ = std::move(file);
  return font;
}

Result<FontFile> FontFile::read(std::span<const uint8_t> data, const std::string& name) {
  FontFile font;
  font.data_ = data;
  LAPILLI_CHECK(font.read_tables(name));
  LAPILLI_CHECK(font.check_tables(name));
  font.choose_map();
  if (font.map_ == 0) return fail(ErrorCode::unsupported, "%s: no Unicode character map", name.c_str());
  const Table postscript = font.cff_ ? font.table("CFF ") : Table{};
  if (!Outlines::open(font.outlines_, data, {font.offset_, postscript.begin, postscript.size})) {
    return fail(ErrorCode::unsupported, "%s: a kind of font that cannot be drawn", name.c_str());
  }
  return font;
}

uint32_t FontFile::u16(uint64_t at) const {
  return at + 2 <= data_.size() ? static_cast<uint32_t>(data_[at] << 8 | data_[at + 1]) : 0;
}
uint32_t FontFile::u32(uint64_t at) const { return u16(at) << 16 | u16(at + 2); }

FontFile::Table FontFile::table(const char* tag) const {
  const uint32_t count = u16(offset_ + 4u);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = offset_ + 12 + 16 * i;
    if (std::memcmp(data_.data() + at, tag, 4) == 0) return {u32(at + 8), u32(at + 12)};
  }
  return {};
}

// The directory: all tables lie within the file.
Status FontFile::read_tables(const std::string& name) {
  const auto bad = [&](const char* what) { return fail(ErrorCode::invalid_data, "%s: %s", name.c_str(), what); };
  if (data_.size() < 12 || data_.size() > (uint64_t{1} << 30)) return bad("not a font");
  if (u32(0) == 0x74746366) offset_ = u32(12);  // "ttcf"
  const uint32_t kind = u32(offset_);
  if (kind != 0x00010000 && kind != 0x74727565 && kind != 0x4F54544F) return bad("not a TrueType or OpenType font");
  const uint32_t count = u16(offset_ + uint64_t{4});
  if (offset_ > (1u << 30) || offset_ + 12 + uint64_t{16} * count > data_.size())
    return bad("its directory is cut off");
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = offset_ + 12 + 16 * i;
    if (uint64_t{u32(at + 8)} + u32(at + 12) > data_.size()) return bad("a table lies outside the file");
  }
  return {};
}

// What stb_truetype reads of each table without looking at its size.
Status FontFile::check_tables(const std::string& name) {
  const auto bad = [&](const char* what) { return fail(ErrorCode::invalid_data, "%s: %s", name.c_str(), what); };
  const Table head = table("head"), hhea = table("hhea"), hmtx = table("hmtx"), maxp = table("maxp"),
              cmap = table("cmap");
  if (head.size < 54 || hhea.size < 36 || maxp.size < 6 || cmap.size < 4 || hmtx.size == 0)
    return bad("a table is missing");
  const uint32_t em = u16(head.begin + 18);
  if (em < 16 || em > 16384) return bad("units per em out of range");
  glyphs_ = u16(maxp.begin + 4);
  const uint64_t metrics = u16(hhea.begin + 34);
  if (metrics == 0 || metrics > glyphs_ || 4 * metrics + 2 * (glyphs_ - metrics) > hmtx.size)
    return bad("its metrics are cut off");
  if (4 + uint64_t{8} * u16(cmap.begin + 2) > cmap.size) return bad("its character maps are cut off");
  glyf_ = table("glyf");
  loca_ = table("loca");
  cff_ = glyf_.size == 0;
  if (cff_) return table("CFF ").size >= 4 ? Status() : bad("no outlines");
  long_loca_ = u16(head.begin + 50) != 0;
  if (u16(head.begin + 50) > 1 || (glyphs_ + uint64_t{1}) * (long_loca_ ? 4 : 2) > loca_.size)
    return bad("its outlines are cut off");
  return {};
}

// The most complete map of those that are understood.
void FontFile::choose_map() {
  const Table cmap = table("cmap");
  uint32_t best = 0;
  for (uint64_t i = 0; i < u16(cmap.begin + 2); ++i) {
    const uint64_t record = cmap.begin + 4 + 8 * i;
    const uint32_t platform = u16(record), encoding = u16(record + 2), from = u32(record + 4);
    const bool unicode = platform == 0 || (platform == 3 && (encoding == 1 || encoding == 10));
    if (!unicode || from + uint64_t{8} > cmap.size) continue;
    const uint64_t at = cmap.begin + from;
    const uint32_t format = u16(at);
    const uint32_t worth = format == 12 ? 3 : format == 4 ? 2 : format == 6 ? 1 : 0;
    if (worth <= best) continue;
    best = worth;
    map_ = at;
    map_end_ = cmap.begin + cmap.size;
  }
}

uint32_t FontFile::glyph(uint32_t code) const {
  const uint32_t format = u16(map_);
  uint32_t found = 0;
  if (format == 12) {
    const uint64_t groups = std::min<uint64_t>(u32(map_ + 12), (map_end_ - map_) / 12);
    uint64_t low = 0, high = groups;
    while (low < high) {
      const uint64_t middle = (low + high) / 2, at = map_ + 16 + 12 * middle;
      if (code > u32(at + 4)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const uint64_t at = map_ + 16 + 12 * low;
    if (low < groups && code >= u32(at) && code <= u32(at + 4)) found = u32(at + 8) + (code - u32(at));
  } else if (format == 6) {
    const uint32_t first = u16(map_ + 6);
    if (code >= first && code - first < u16(map_ + 8)) found = u16(map_ + 10 + uint64_t{2} * (code - first));
  } else if (format == 4 && code <= 0xFFFF) {
    const uint64_t segments = u16(map_ + 6) / 2;
    uint64_t low = 0, high = segments;
    while (low < high) {
      const uint64_t middle = (low + high) / 2;
      if (code > u16(map_ + 14 + 2 * middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const uint64_t start = map_ + 16 + 2 * segments + 2 * low, delta = start + 2 * segments,
                   range = delta + 2 * segments;
    if (low < segments && code >= u16(start)) {
      const uint32_t offset = u16(range);
      if (offset == 0) {
        found = (code + u16(delta)) & 0xFFFF;
      } else if (const uint32_t g = u16(range + offset + uint64_t{2} * (code - u16(start))); g != 0) {
        found = (g + u16(delta)) & 0xFFFF;
      }
    }
  }
  return found < glyphs_ ? found : 0;
}

bool FontFile::sound(uint32_t glyph) const {
  if (glyph >= glyphs_) return false;
  uint32_t parts = 0;
  return cff_ || sound_glyph(glyph, 0, parts);
}

bool FontFile::sound_glyph(uint32_t glyph, uint32_t depth, uint32_t& parts) const {
  constexpr uint32_t kMostParts = 64, kDeepest = 6;
  if (glyph >= glyphs_ || depth > kDeepest || ++parts > kMostParts) return false;
  const uint64_t from =
      long_loca_ ? u32(loca_.begin + uint64_t{4} * glyph) : uint64_t{2} * u16(loca_.begin + uint64_t{2} * glyph);
  const uint64_t to = long_loca_ ? u32(loca_.begin + uint64_t{4} * glyph + 4)
                                 : uint64_t{2} * u16(loca_.begin + uint64_t{2} * glyph + 2);
  if (from == to) return true;
  if (from > to || to > glyf_.size || to - from < 10) return false;
  uint64_t at = glyf_.begin + from;
  const uint64_t end = glyf_.begin + to;
  const uint32_t contours = u16(at);
  if (contours == 0) return true;
  if (contours < 0x8000) return sound_simple(at + 10, end, contours);
  at += 10;
  while (true) {
    if (at + 4 > end) return false;
    const uint32_t flags = u16(at), part = u16(at + 2);
    at += 4 + ((flags & 1) ? 4 : 2) + ((flags & 8) ? 2 : (flags & 0x40) ? 4 : (flags & 0x80) ? 8 : 0);
    // Without the second flag the offset is a pair of points, which stb_truetype does not know.
    if (at > end || !(flags & 2) || !sound_glyph(part, depth + 1, parts)) return false;
    if (!(flags & 0x20)) return true;
  }
}

bool FontFile::sound_simple(uint64_t at, uint64_t end, uint32_t contours) const {
  if (at + uint64_t{2} * contours + 2 > end) return false;
  uint32_t last = 0;
  for (uint64_t i = 0; i < contours; ++i) {
    const uint32_t point = u16(at + 2 * i);
    if (i > 0 && point <= last) return false;
    last = point;
  }
  const uint64_t ends = at;
  at += uint64_t{2} * contours;
  at += 2 + u16(at);
  uint64_t coordinates = 0;
  uint32_t flags = 0, times = 0, contour_begin = 0;
  for (uint32_t point = 0, contour = 0; point <= last; ++point, --times) {
    if (times == 0) {
      if (at >= end) return false;
      flags = data_[at++];
      times = 1;
      if (flags & 8) {
        if (at >= end) return false;
        times += data_[at++];
      }
    }
    coordinates += (flags & 2 ? 1 : flags & 16 ? 0 : 2) + (flags & 4 ? 1 : flags & 32 ? 0 : 2);
    if (point != u16(ends + uint64_t{2} * contour)) continue;
    // A lone point off the curve has no neighbour to start from.
    if (point == contour_begin && !(flags & 1)) return false;
    contour_begin = point + 1;
    ++contour;
  }
  return at + coordinates <= end;
}

}  // namespace lapilli::image
