// GPT-2's alphabet: a printable character for every byte.
#pragma once

#include <array>
#include <cstdint>

namespace lapilli {

// Printable Latin-1 bytes map to themselves, the others to U+0100 and up, in order.
constexpr std::array<char32_t, 256> make_byte_alphabet() {
  std::array<char32_t, 256> table{};
  char32_t next = 0x100;
  for (char32_t b = 0; b < 256; ++b) {
    const bool printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    table[b] = printable ? b : next++;
  }
  return table;
}
inline constexpr std::array<char32_t, 256> kByteAlphabet = make_byte_alphabet();

// The byte that a character represents, or -1.
constexpr int byte_of(char32_t c) {
  for (int b = 0; c < 0x180 && b < 256; ++b) {
    if (kByteAlphabet[static_cast<size_t>(b)] == c) return b;
  }
  return -1;
}

}  // namespace lapilli
