// Unpacks deflate by zlib: members of zip archives, and gzip files. Without zlib both are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

// A member of a zip archive (deflate alone): exactly `bytes` bytes, of the checksum `crc`. A size that no deflate
// reaches is refused before memory is asked for.
Result<std::vector<std::byte>> inflate(std::span<const std::byte> packed, uint64_t bytes, uint32_t crc);

// A gzip file, of one part or several: at most `bound` bytes. Memory grows with what comes out of it.
Result<std::vector<std::byte>> gunzip(std::span<const std::byte> packed, uint64_t bound);

// True for the first bytes of a gzip file.
constexpr bool is_gzip(std::span<const std::byte> start) {
  return start.size() >= 2 && start[0] == std::byte{0x1f} && start[1] == std::byte{0x8b};
}

}  // namespace lapilli
