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

// The first `count` bytes of what the two above give, or all if there are fewer; no more is unpacked. Whether the rest
// is intact is not looked at.
Result<std::vector<std::byte>> inflate_start(std::span<const std::byte> packed, uint64_t count);
Result<std::vector<std::byte>> gunzip_start(std::span<const std::byte> packed, uint64_t count);

// More than this does not come out of so many packed bytes of a model: tables of numbers and lists of words shrink to a
// fifth at best, and a file that grows by more is made to fill the memory.
constexpr uint64_t most_unpacked(uint64_t packed) {
  constexpr uint64_t kFree = uint64_t{64} << 20, kMostFactor = 100;
  return packed > (UINT64_MAX - kFree) / kMostFactor ? UINT64_MAX : packed * kMostFactor + kFree;
}

// True for the first bytes of a gzip file.
constexpr bool is_gzip(std::span<const std::byte> start) {
  return start.size() >= 2 && start[0] == std::byte{0x1f} && start[1] == std::byte{0x8b};
}

}  // namespace lapilli
