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

}  // namespace

uint32_t png_crc(std::span<const unsigned char> bytes) {
  uint32_t c = ~0u;
  for (const unsigned char b : bytes) c = kTable[(c ^ b) & 0xff] ^ c >> 8;
  return ~c;
}

bool png_chunks_whole(std::span<const unsigned char> file) {
  constexpr std::string_view kBegin("\x89PNG\r\n\x1a\n");
  constexpr size_t kWord = 4, kAround = 3 * kWord;  // length and type before a chunk's data, checksum behind it
  constexpr unsigned char kAncillary = 0x20;        // in the first letter of its type
  if (file.size() < kBegin.size() || std::memcmp(file.data(), kBegin.data(), kBegin.size()) != 0) return true;
  for (auto rest = file.subspan(kBegin.size()); rest.size() >= kAround;) {
    const uint64_t length = number(rest);
    if (length > rest.size() - kAround) return true;  // cut: what stb makes of it, it says
    const auto checked = rest.subspan(kWord, kWord + static_cast<size_t>(length));
    rest = rest.subspan(kWord + checked.size());
    if ((checked[0] & kAncillary) == 0 && number(rest) != png_crc(checked)) return false;
    rest = rest.subspan(kWord);
  }
  return true;
}

}  // namespace lapilli::image
