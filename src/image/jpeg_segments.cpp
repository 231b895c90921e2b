#include "image/jpeg_segments.hpp"

#include <algorithm>

namespace lapilli::image {

namespace {

constexpr unsigned char kMarkByte = 0xFF, kImageBegins = 0xD8, kImageEnds = 0xD9, kFirstRestart = 0xD0;

// True for markers without a length, and for bytes that are no markers.
bool stands_alone(unsigned char before, unsigned char marker) {
  return before != kMarkByte || marker == 0 || marker == kMarkByte ||
         (marker >= kFirstRestart && marker < kImageBegins);
}

}  // namespace

bool visit_jpeg_segments(std::span<const unsigned char> file, const SegmentVisitor& visit) {
  if (file.size() < 2 || file[0] != kMarkByte || file[1] != kImageBegins) return true;
  for (size_t at = 2; at + 3 < file.size();) {
    const unsigned char marker = file[at + 1];
    if (stands_alone(file[at], marker)) {
      ++at;
      continue;
    }
    if (marker == kImageEnds) return true;
    const size_t length = size_t{file[at + 2]} << 8 | file[at + 3], begin = at + 4;
    if (length < 2) return true;  // stb refuses it
    const size_t size = std::min(length - 2, file.size() - begin);
    if (!visit(marker, file.subspan(begin, size))) return false;
    at = begin + size;
  }
  return true;
}

}  // namespace lapilli::image
