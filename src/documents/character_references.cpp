#include "documents/character_references.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "documents/characters.hpp"

namespace lapilli::documents {

namespace {

struct NamedReference {
  std::string_view name, text;
};
constexpr NamedReference kNamedReferences[] = {
#include "documents/character_references.inc"
};
constexpr size_t kLongestName = 33;

// Numbers 128 to 159 are read as Windows-1252.
constexpr std::array<char32_t, 32> kWindows1252 = {0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021,
                                                   0x2c6,  0x2030, 0x160,  0x2039, 0x152,  0x8d,   0x17d,  0x8f,
                                                   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                                   0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};

char32_t meant_character(uint32_t number) {
  const bool none = number == 0 || number > 0x10ffff || (number >= 0xd800 && number < 0xe000);
  if (none) return 0xfffd;
  return number >= 0x80 && number < 0xa0 ? kWindows1252[number - 0x80] : number;
}

int digit_of(char c, uint32_t base) {
  if (c >= '0' && c <= '9') return c - '0';
  const char l = ascii_lower(c);
  return base == 16 && l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

size_t decode_number(std::string_view text, std::string& out) {
  const bool hexadecimal = text.size() > 2 && ascii_lower(text[2]) == 'x';
  const uint32_t base = hexadecimal ? 16 : 10;
  const size_t begin = hexadecimal ? 3 : 2;
  size_t at = begin;
  uint32_t number = 0;
  for (; at < text.size() && digit_of(text[at], base) >= 0; ++at) {
    number = std::min<uint32_t>(number * base + static_cast<uint32_t>(digit_of(text[at], base)), 0x110000);
  }
  if (at == begin) return 0;
  append_character(out, meant_character(number));
  return at < text.size() && text[at] == ';' ? at + 1 : at;
}

}  // namespace

size_t decode_reference(std::string_view text, std::string& out) {
  if (text.size() < 2 || text[0] != '&') return 0;
  if (text[1] == '#') return decode_number(text, out);
  size_t letters = 0;
  const auto letter = [&](size_t i) { return i < text.size() && !is_sign(static_cast<unsigned char>(text[i])); };
  while (letters < kLongestName && letter(1 + letters)) ++letters;
  for (size_t length = std::min(letters + 1, text.size() - 1); letters > 1 && length > 1; --length) {
    const std::string_view name = text.substr(1, length);
    const auto* at = std::lower_bound(std::begin(kNamedReferences), std::end(kNamedReferences), name,
                                      [](const NamedReference& r, std::string_view n) { return r.name < n; });
    if (at == std::end(kNamedReferences) || at->name != name) continue;
    out += at->text;
    return length + 1;
  }
  return 0;
}

}  // namespace lapilli::documents
