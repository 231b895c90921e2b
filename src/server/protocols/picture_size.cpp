#include "server/protocols/picture_size.hpp"

#include <cstddef>
#include <cstdlib>

namespace lapilli::server {

namespace {

// Bytes of a file, whose end reads as zeros.
class HeadBytes {
 public:
  explicit HeadBytes(std::string_view file) : file_(file) {}
  [[nodiscard]] size_t size() const { return file_.size(); }
  [[nodiscard]] bool has(size_t at, std::string_view bytes) const {
    return at <= file_.size() && file_.substr(at, bytes.size()) == bytes;
  }
  [[nodiscard]] uint64_t byte(size_t at) const { return at < file_.size() ? static_cast<unsigned char>(file_[at]) : 0; }
  // The lowest byte first.
  [[nodiscard]] uint64_t little(size_t at, size_t count) const {
    uint64_t value = 0;
    for (size_t i = count; i > 0; --i) value = value << 8 | byte(at + i - 1);
    return value;
  }
  [[nodiscard]] uint64_t big(size_t at, size_t count) const {
    uint64_t value = 0;
    for (size_t i = 0; i < count; ++i) value = value << 8 | byte(at + i);
    return value;
  }

 private:
  std::string_view file_;
};

using Pixels = std::optional<uint64_t>;

// Markers without a length behind them: TEM, RST0 to RST7 and SOI (ITU T.81, B.1.1.3).
bool stands_alone(uint64_t mark) { return mark == 0x01 || (mark >= 0xd0 && mark <= 0xd8); }

// Segments up to the one of a frame: SOF0 to SOF15 without the tables among them (ITU T.81).
Pixels of_jpeg(const HeadBytes& f) {
  constexpr uint64_t kFirst = 0xc0, kLast = 0xcf, kHuffman = 0xc4, kExtension = 0xc8, kArithmetic = 0xcc;
  for (size_t at = 2; at + 9 < f.size() && f.byte(at) == 0xff;) {
    const uint64_t mark = f.byte(at + 1);
    if (mark == 0xff) {
      ++at;  // a filler
      continue;
    }
    const bool table = mark == kHuffman || mark == kExtension || mark == kArithmetic;
    if (mark >= kFirst && mark <= kLast && !table) return f.big(at + 5, 2) * f.big(at + 7, 2);
    at += 2 + (stands_alone(mark) ? 0 : f.big(at + 2, 2));
  }
  return {};
}

// The bottom row first has a negative height.
Pixels of_bmp(const HeadBytes& f) {
  const auto height = static_cast<int32_t>(static_cast<uint32_t>(f.little(22, 4)));
  return f.little(18, 4) * static_cast<uint64_t>(std::llabs(height));
}

Pixels of_webp(const HeadBytes& f) {
  constexpr uint64_t kSide = 0x3fff;
  if (f.has(12, "VP8 ")) return (f.little(26, 2) & kSide) * (f.little(28, 2) & kSide);
  if (f.has(12, "VP8L")) return ((f.little(21, 4) & kSide) + 1) * ((f.little(21, 4) >> 14 & kSide) + 1);
  if (f.has(12, "VP8X")) return (f.little(24, 3) + 1) * (f.little(27, 3) + 1);
  return {};
}

// The first directory's width (256) and height (257), of 16 or 32 bits.
Pixels of_tiff(const HeadBytes& f) {
  constexpr uint64_t kWidth = 256, kHeight = 257, kShort = 3, kMostEntries = 4096;
  const bool little = f.has(0, "II");
  const auto read = [&](size_t at, size_t count) { return little ? f.little(at, count) : f.big(at, count); };
  const size_t directory = read(4, 4);
  uint64_t width = 0, height = 0;
  for (size_t i = 0; i < read(directory, 2) && i < kMostEntries; ++i) {
    const size_t entry = directory + 2 + 12 * i;
    const uint64_t value = read(entry + 8, read(entry + 2, 2) == kShort ? 2 : 4);
    if (read(entry, 2) == kWidth) width = value;
    if (read(entry, 2) == kHeight) height = value;
  }
  return width * height > 0 ? Pixels(width * height) : Pixels();
}

}  // namespace

std::optional<uint64_t> pixels_of(std::string_view file) {
  const HeadBytes f(file);
  constexpr size_t kShortest = 26;
  if (file.size() < kShortest) return {};
  if (f.has(0, "\x89PNG\r\n\x1a\n")) return f.big(16, 4) * f.big(20, 4);
  if (f.has(0, "\xff\xd8")) return of_jpeg(f);
  if (f.has(0, "GIF8")) return f.little(6, 2) * f.little(8, 2);
  if (f.has(0, "BM")) return of_bmp(f);
  if (f.has(0, "RIFF") && f.has(8, "WEBP")) return of_webp(f);
  if (f.has(0, {"II*\0", 4}) || f.has(0, {"MM\0*", 4})) return of_tiff(f);
  return {};
}

}  // namespace lapilli::server
