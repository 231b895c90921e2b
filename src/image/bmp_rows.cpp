#include "image/bmp_rows.hpp"

#include <cstdint>

namespace lapilli::image {

namespace {

// A little-endian number of `size` bytes. The caller has checked that they exist.
uint64_t field_of_bmp(std::span<const unsigned char> file, size_t at, size_t size) {
  uint64_t n = 0;
  for (size_t i = size; i-- > 0;) n = n << 8 | file[at + i];
  return n;
}

}  // namespace

bool bmp_rows_whole(std::span<const unsigned char> file) {
  constexpr size_t kPixels = 10, kHeaderBytes = 14, kFields = 18, kOldHeader = 12, kEnd = 54;
  if (file.size() < kEnd) return true;
  const bool old = field_of_bmp(file, kHeaderBytes, 4) == kOldHeader;
  const size_t each = old ? 2 : 4;
  const uint64_t width = field_of_bmp(file, kFields, each), above = field_of_bmp(file, kFields + each, each);
  const uint64_t height = !old && above >> 31 != 0 ? (uint64_t{1} << 32) - above : above;  // negative: from the top
  const uint64_t row_bits = width * field_of_bmp(file, kFields + 2 * each + 2, 2);
  if (width == 0 || height == 0) return true;
  // The last row counts only up to its last pixel: some writers omit its padding.
  const uint64_t rows = (row_bits + 31) / 32 * 4 * (height - 1) + (row_bits + 7) / 8;
  return field_of_bmp(file, kPixels, 4) + rows <= file.size();
}

}  // namespace lapilli::image
