// TrueType and OpenType files, made safe for a reader that checks nothing.
//
// stb_truetype trusts its input. So fonts come from the system's own directories only (whoever can write there needs no
// font to do harm), and still every table that is read is checked first: tables within the file, character maps, the
// TrueType outlines of every glyph before it is drawn. PostScript outlines (CFF) are read within their table's bounds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.hpp"
#include "base/result.hpp"
#include "image/stb.hpp"

namespace lapilli::image {

class FontFile {
 public:
  // Of a collection (.ttc) the first font. Errors: not a font, damaged, no outlines (bitmap fonts).
  static Result<FontFile> open(const std::string& path);
  // The same for bytes in memory, which must outlive the font.
  static Result<FontFile> read(std::span<const uint8_t> data, const std::string& name);

  // 0: the font has none.
  [[nodiscard]] uint32_t glyph(uint32_t code) const;
  // False if drawing this glyph would read outside its table.
  [[nodiscard]] bool sound(uint32_t glyph) const;
  // Only if sound().
  [[nodiscard]] GlyphImage draw(uint32_t glyph, float pixels) const { return outlines_.draw(glyph, pixels); }

 private:
  struct Table {
    uint64_t begin = 0, size = 0;
  };
  Status read_tables(const std::string& name);
  Status check_tables(const std::string& name);
  void choose_map();
  [[nodiscard]] Table table(const char* tag) const;
  [[nodiscard]] uint32_t u16(uint64_t at) const;  // 0 outside the file
  [[nodiscard]] uint32_t u32(uint64_t at) const;
  [[nodiscard]] bool sound_glyph(uint32_t glyph, uint32_t depth, uint32_t& parts) const;
  [[nodiscard]] bool sound_simple(uint64_t at, uint64_t end, uint32_t contours) const;

  MappedFile file_;
  std::span<const uint8_t> data_;
  uint32_t offset_ = 0;  // of this font in a collection
  uint64_t map_ = 0;     // its character map
  uint64_t map_end_ = 0;
  Table glyf_, loca_;
  uint32_t glyphs_ = 0;
  bool long_loca_ = false, cff_ = false;
  Outlines outlines_;
};

}  // namespace lapilli::image
