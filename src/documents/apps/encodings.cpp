#include "documents/apps/encodings.hpp"

#include "documents/characters.hpp"

namespace lapilli::documents {

namespace {

// The halves of a character in UTF-16; the first is 0 if one suffices.
struct Halves {
  char32_t first = 0, second = 0;
};
Halves halves_of(char32_t c) {
  if (c < 0x10000) return {0, c};
  return {0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff)};
}

void append_hex4(std::string& out, char32_t value) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += "0123456789abcdef"[(value >> shift) & 15];
}

void append_unit(std::string& out, char32_t value, Utf16 order) {
  const char low = static_cast<char>(value & 0xff), high = static_cast<char>(value >> 8);
  out += order == Utf16::little ? low : high;
  out += order == Utf16::little ? high : low;
}

char32_t unit_at(std::string_view bytes, size_t at, Utf16 order) {
  const auto first = static_cast<unsigned char>(bytes[at]), second = static_cast<unsigned char>(bytes[at + 1]);
  return order == Utf16::little ? first | static_cast<char32_t>(second) << 8
                                : second | static_cast<char32_t>(first) << 8;
}

}  // namespace

void append_u_escape(std::string& out, char32_t c) {
  const Halves halves = halves_of(c);
  if (halves.first != 0) append_hex4(out, halves.first);
  append_hex4(out, halves.second);
}

std::string utf8_of_latin1(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) append_character(text, static_cast<unsigned char>(c));
  return text;
}

std::string latin1_of_utf8(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = next_character(text, at);
    if (c < 0x100)
      bytes += static_cast<char>(c);
    else
      append_u_escape(bytes, c);
  }
  return bytes;
}

Utf16 utf16_order(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe")) return Utf16::little;
  return bytes.starts_with("\xfe\xff") ? Utf16::big : Utf16::none;
}

bool utf8_of_utf16(std::string_view bytes, Utf16 order, std::string& text) {
  if (bytes.size() % 2 != 0) return false;
  for (size_t at = 0; at < bytes.size(); at += 2) {
    char32_t c = unit_at(bytes, at, order);
    if (c >= 0xd800 && c < 0xe000) {
      const char32_t second = at + 2 < bytes.size() ? unit_at(bytes, at + 2, order) : 0;
      if (c >= 0xdc00 || second < 0xdc00 || second >= 0xe000) return false;
      c = 0x10000 + ((c - 0xd800) << 10) + (second - 0xdc00);
      at += 2;
    }
    append_character(text, c);
  }
  return true;
}

std::string utf16_of_utf8(std::string_view text, Utf16 order) {
  std::string bytes;
  for (size_t at = 0; at < text.size();) {
    const Halves halves = halves_of(next_character(text, at));
    if (halves.first != 0) append_unit(bytes, halves.first, order);
    append_unit(bytes, halves.second, order);
  }
  return bytes;
}

}  // namespace lapilli::documents
