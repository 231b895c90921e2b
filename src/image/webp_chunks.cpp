#include "image/webp_chunks.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "image/picture_kind.hpp"

namespace lapilli::image {

// A chunk is a type, a size and data padded to an even size.
std::span<const unsigned char> webp_chunk_of(std::span<const unsigned char> file, std::string_view type) {
  constexpr size_t kFront = 12, kHeader = 8;
  if (kind_of_picture(file) != PictureKind::webp) return {};
  for (auto rest = file.subspan(kFront); rest.size() >= kHeader;) {
    const uint64_t size =
        uint64_t{rest[4]} | uint64_t{rest[5]} << 8 | uint64_t{rest[6]} << 16 | uint64_t{rest[7]} << 24;
    if (size > rest.size() - kHeader) return {};
    const auto data = rest.subspan(kHeader, static_cast<size_t>(size));
    if (std::memcmp(rest.data(), type.data(), type.size()) == 0) return data;
    rest = rest.subspan(std::min(rest.size(), kHeader + data.size() + data.size() % 2));
  }
  return {};
}

}  // namespace lapilli::image
