#include "image/orientation.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "image/jpeg_segments.hpp"
#include "image/png_checksums.hpp"
#include "image/webp_chunks.hpp"

namespace lapilli::image {

namespace {

using Bytes = std::span<const unsigned char>;

bool begins_with(Bytes bytes, std::string_view with) {
  return bytes.size() >= with.size() && std::memcmp(bytes.data(), with.data(), with.size()) == 0;
}

// EXIF data are laid out as TIFF files, which state their byte order.
struct Tiff {
  Bytes bytes;
  bool high_first = false;

  // The caller has checked that the bytes exist.
  [[nodiscard]] uint64_t number(uint64_t at, uint64_t size) const {
    uint64_t n = 0;
    for (uint64_t i = 0; i < size; ++i)
      n = n << 8 | bytes[static_cast<size_t>(high_first ? at + i : at + size - 1 - i)];
    return n;
  }
};

constexpr uint64_t kEntry = 12;  // bytes: tag, type, count, value

// 0: the entry is another one, or its value is no orientation.
uint64_t orientation_at(const Tiff& tiff, uint64_t entry) {
  constexpr uint64_t kOrientation = 0x0112, kShort = 3, kLong = 4;
  if (tiff.number(entry, 2) != kOrientation) return 0;
  const uint64_t type = tiff.number(entry + 2, 2);
  if (type != kShort && type != kLong) return 0;
  const uint64_t value = tiff.number(entry + 8, type == kShort ? 2 : 4);
  return value <= 8 ? value : 0;
}

// The orientation stands in the first directory: a count, followed by entries.
uint32_t orientation_in(const Tiff& tiff) {
  const uint64_t directory = tiff.number(4, 4), size = tiff.bytes.size();
  if (directory + 2 > size) return kUpright;
  const uint64_t entries = tiff.number(directory, 2);
  for (uint64_t i = 0, at = directory + 2; i < entries && at + kEntry <= size; ++i, at += kEntry)
    if (const uint64_t found = orientation_at(tiff, at)) return static_cast<uint32_t>(found);
  return kUpright;
}

uint32_t orientation_by_exif(Bytes exif) {
  if (exif.size() < 8) return kUpright;
  if (begins_with(exif, {"MM\0*", 4})) return orientation_in({exif, true});
  if (begins_with(exif, {"II*\0", 4})) return orientation_in({exif, false});
  return kUpright;
}

// Segments of that kind hold other data too, under other names. Two bytes follow the name.
constexpr std::string_view kName("Exif\0", 5);
Bytes behind_name(Bytes data) { return data.subspan(std::min(data.size(), kName.size() + 1)); }

uint32_t orientation_of_jpeg(Bytes file) {
  uint32_t found = kUpright;
  visit_jpeg_segments(file, [&](unsigned char marker, Bytes data) {
    if (marker == kJpegExif && begins_with(data, kName)) found = orientation_by_exif(behind_name(data));
    return found == kUpright && marker != kJpegScan;
  });
  return found;
}

}  // namespace

uint32_t orientation_of(Bytes file) {
  Bytes exif = png_chunk_of(file, "eXIf");
  if (exif.empty()) exif = webp_chunk_of(file, "EXIF");
  if (exif.empty()) return orientation_of_jpeg(file);
  return orientation_by_exif(begins_with(exif, kName) ? behind_name(exif) : exif);  // some put the name here, too
}

std::vector<uint8_t> turned_upright(std::span<const uint8_t> rgb, uint32_t width, uint32_t height,
                                    uint32_t orientation) {
  const auto is_one_of = [&](auto... those) { return ((orientation == those) || ...); };
  const bool from_right = is_one_of(2u, 3u, 7u, 8u), from_below = is_one_of(3u, 4u, 6u, 7u);
  const auto w = ptrdiff_t{width}, h = ptrdiff_t{height};
  const ptrdiff_t column = from_right ? -3 : 3, row = from_below ? -3 * w : 3 * w;
  const bool swapped = lies_on_its_side(orientation);
  const ptrdiff_t right = swapped ? row : column, down = swapped ? column : row;
  const uint8_t* line = rgb.data() + (from_right ? 3 * (w - 1) : 0) + (from_below ? 3 * w * (h - 1) : 0);
  std::vector<uint8_t> upright(rgb.size());
  uint8_t* to = upright.data();
  for (ptrdiff_t y = 0; y < (swapped ? w : h); ++y)
    for (ptrdiff_t x = 0; x < (swapped ? h : w); ++x, to += 3) std::memcpy(to, line + y * down + x * right, 3);
  return upright;
}

}  // namespace lapilli::image
