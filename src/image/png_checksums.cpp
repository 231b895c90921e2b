#include "image/png_checksums.hpp"

#include <array>
#include <cstring>
#include <string_view>

namespace lapilli::image {

namespace {

constexpr std::array<uint32_t, 256> kTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t n = 0; n < table.size(); ++n) {
    uint32_t c = n;
    for (int bit = 0; bit < 8; ++bit) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
    table[n] = c;
  }
  return table;
}();

uint64_t number(std::span<const unsigned char> at) {
  return uint64_t{at[0]} << 24 | uint64_t{at[1]} << 16 | uint64_t{at[2]} << 8 | at[3];
}

constexpr size_t kWord = 4, kAround = 3 * kWord;  // length and type before a chunk's data, checksum behind it

// Calls `visit` for each complete chunk with its type and data, and its checksum; false ends the visit and is then the
// result. Truncated files are left to stb.
template <class Visit>
bool visit_chunks(std::span<const unsigned char> file, const Visit& visit) {
  constexpr std::string_view kBegin("\x89PNG\r\n\x1a\n");
  if (file.size() < kBegin.size() || std::memcmp(file.data(), kBegin.data(), kBegin.size()) != 0) return true;
  for (auto rest = file.subspan(kBegin.size()); rest.size() >= kAround;) {
    const uint64_t length = number(rest);
    if (length > rest.size() - kAround) return true;
    const auto checked = rest.subspan(kWord, kWord + static_cast<size_t>(length));
    rest = rest.subspan(kWord + checked.size());
    if (!visit(checked, number(rest))) return false;
    rest = rest.subspan(kWord);
  }
  return true;
}

}  // namespace

uint32_t png_crc(std::span<const unsigned char> bytes) {
  uint32_t c = ~0u;
  for (const unsigned char b : bytes) c = kTable[(c ^ b) & 0xff] ^ c >> 8;
  return ~c;
}

bool png_chunks_whole(std::span<const unsigned char> file) {
  constexpr unsigned char kAncillary = 0x20;  // in the first letter of its type
  return visit_chunks(file, [&](std::span<const unsigned char> checked, uint64_t checksum) {
    return (checked[0] & kAncillary) != 0 || checksum == png_crc(checked);
  });
}

std::span<const unsigned char> png_chunk_of(std::span<const unsigned char> file, std::string_view type) {
  std::span<const unsigned char> found;
  visit_chunks(file, [&](std::span<const unsigned char> checked, uint64_t checksum) {
    const auto is = [&](std::string_view t) { return std::memcmp(checked.data(), t.data(), kWord) == 0; };
    if (!is(type)) return !is("IEND");
    if (checksum == png_crc(checked)) found = checked.subspan(kWord);
    return found.empty();
  });
  return found;
}

}  // namespace lapilli::image
