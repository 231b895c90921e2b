// PNG files as bytes, right ones and such as claim or unpack too much.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "image/png_checksums.hpp"

namespace lapilli::image {

inline std::string big(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

inline std::string png_chunk(const std::string& type, const std::string& data) {
  const std::string checked = type + data;
  const auto* bytes = reinterpret_cast<const unsigned char*>(checked.data());
  return big(static_cast<uint32_t>(data.size())) + checked + big(png_crc({bytes, checked.size()}));
}

// The same file with the checksum of every chunk that is there as a whole made right, so that what is behind them is
// read.
inline std::string with_right_checksums(std::string file) {
  for (size_t at = 8; at + 12 <= file.size();) {
    const auto byte = [&](size_t i) { return uint64_t{static_cast<unsigned char>(file[at + i])}; };
    const uint64_t length = byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
    if (length > file.size() - at - 12) break;
    const auto size = static_cast<size_t>(length);
    file.replace(at, size + 12, png_chunk(file.substr(at + 4, 4), file.substr(at + 8, size)));
    at += size + 12;
  }
  return file;
}

// Grey, 8 bits; `packed` is what its data unpack from.
inline std::string png_of(uint32_t width, uint32_t height, const std::string& packed) {
  const std::string header = big(width) + big(height) + std::string("\x08\x00\x00\x00\x00", 5);
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png_chunk("IDAT", packed) + png_chunk("IEND", "");
}

// A zlib stream that unpacks to `count` zeros or a little more: one block of fixed codes, a zero and then copies of 258
// (code 11000101, distance 1 as five zeros).
inline std::string zlib_zeros(uint64_t count) {
  std::string out = "\x78\x01";
  uint32_t bits = 0, used = 0;
  const auto put = [&](uint32_t code, uint32_t length) {  // from the highest bit on
    for (uint32_t i = length; i-- > 0;) {
      bits |= (code >> i & 1) << used;
      if (++used == 8) {
        out += static_cast<char>(bits);
        bits = used = 0;
      }
    }
  };
  put(1, 1);  // the last block
  put(2, 2);  // fixed codes: 01, lowest bit first
  put(0x30, 8);
  for (uint64_t n = 1; n < count; n += 258) {
    put(0xC5, 8);
    put(0, 5);
  }
  put(0, 7);  // end
  put(0, 7);
  return out + std::string(4, '\0');
}

}  // namespace lapilli::image
