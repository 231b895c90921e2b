#include "documents/characters.hpp"

#include <algorithm>
#include <array>

namespace lapilli::documents {

namespace {

struct Lead {
  size_t length;
  char32_t bits, least;  // of the first byte; the smallest character allowed at this length
};

std::optional<Lead> lead_of(unsigned char c) {
  if (c < 0x80) return Lead{1, c, 0};
  if (c >= 0xc2 && c < 0xe0) return Lead{2, c & 0x1fu, 0x80};
  if (c >= 0xe0 && c < 0xf0) return Lead{3, c & 0x0fu, 0x800};
  if (c >= 0xf0 && c < 0xf5) return Lead{4, c & 0x07u, 0x10000};
  return std::nullopt;
}

unsigned char byte_at(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

bool continues(std::string_view text, size_t i) { return i < text.size() && (byte_at(text, i) & 0xc0) == 0x80; }

// Length of the character at `at`; 0 if it is invalid.
size_t valid_length(std::string_view text, size_t at) {
  const auto lead = lead_of(byte_at(text, at));
  if (!lead) return 0;
  char32_t c = lead->bits;
  for (size_t i = 1; i < lead->length; ++i) {
    if (!continues(text, at + i)) return 0;
    c = (c << 6) | (byte_at(text, at + i) & 0x3fu);
  }
  const bool surrogate = c >= 0xd800 && c < 0xe000;
  return c < lead->least || c > 0x10ffff || surrogate ? 0 : lead->length;
}

struct Block {
  char32_t first, last;
};

bool in_blocks(char32_t c, const auto& blocks) {
  return std::any_of(blocks.begin(), blocks.end(), [&](const Block& b) { return c >= b.first && c <= b.last; });
}

// Signs beyond ASCII, by blocks: Latin-1 signs, general punctuation to miscellaneous symbols, CJK punctuation, full
// width.
constexpr std::array kSigns = {
    Block{0x80, 0xa9},     Block{0xab, 0xb4},     Block{0xb6, 0xb9},      Block{0xbb, 0xbf},     Block{0xd7, 0xd7},
    Block{0xf7, 0xf7},     Block{0x37e, 0x37e},   Block{0x55a, 0x55f},    Block{0x589, 0x58a},   Block{0x5be, 0x5be},
    Block{0x60c, 0x60d},   Block{0x61b, 0x61f},   Block{0x66a, 0x66d},    Block{0x6d4, 0x6d4},   Block{0x964, 0x965},
    Block{0x2000, 0x206f}, Block{0x20a0, 0x20cf}, Block{0x2190, 0x2bff},  Block{0x3000, 0x3004}, Block{0x3008, 0x3020},
    Block{0x3030, 0x3030}, Block{0xfe30, 0xfe6b}, Block{0xff00, 0xff0f},  Block{0xff1a, 0xff20}, Block{0xff3b, 0xff40},
    Block{0xff5b, 0xff65}, Block{0xfeff, 0xfeff}, Block{0x1f000, 0x1faff}};

// Southeast Asian scripts, kana, Han.
constexpr std::array kUnspaced = {Block{0xe00, 0xeff},    Block{0x1000, 0x109f}, Block{0x1780, 0x17ff},
                                  Block{0x3005, 0x3007},  Block{0x3021, 0x30ff}, Block{0x3400, 0x4dbf},
                                  Block{0x4e00, 0x9fff},  Block{0xf900, 0xfaff}, Block{0xff66, 0xff9f},
                                  Block{0x20000, 0x3ffff}};

constexpr std::array kCapitals = {Block{'A', 'Z'},     Block{0xc0, 0xd6},   Block{0xd8, 0xde},
                                  Block{0x386, 0x38f}, Block{0x391, 0x3ab}, Block{0x400, 0x42f}};

constexpr std::u32string_view kTerminals = U".!?\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964\u0589:\uff1a;\u266a\u266b";
constexpr std::u32string_view kClosers = U"\"')]}\u00bb\u203a\u201d\u2019\u300d\u300f\uff09 \u00a0";

}  // namespace

std::optional<size_t> find_invalid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = valid_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

char32_t next_character(std::string_view text, size_t& at) {
  const auto lead = lead_of(byte_at(text, at++));
  char32_t c = lead ? lead->bits : 0xfffd;
  for (size_t i = 1; lead && i < lead->length && continues(text, at); ++i) c = (c << 6) | (byte_at(text, at++) & 0x3fu);
  return c;
}

char32_t previous_character(std::string_view text, size_t& at) {
  do --at;
  while (at > 0 && (byte_at(text, at) & 0xc0) == 0x80);
  size_t from = at;
  return next_character(text, from);
}

void append_character(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xc0 | (c >> 6));
  } else if (c < 0x10000) {
    put(0xe0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3f));
  } else {
    put(0xf0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3f));
    put(0x80 | ((c >> 6) & 0x3f));
  }
  put(0x80 | (c & 0x3f));
}

std::string ascii_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = ascii_lower(c);
  return out;
}

bool is_sign(char32_t c) {
  if (c < 0x80) return !is_ascii_letter(c) && !is_ascii_digit(c);
  return in_blocks(c, kSigns);
}

bool has_letter(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const char32_t c = next_character(text, at);
    if (!is_sign(c) && !is_ascii_digit(c)) return true;
  }
  return false;
}

bool is_capital(char32_t c) { return in_blocks(c, kCapitals); }

bool is_unspaced(char32_t c) { return c >= 0xe00 && in_blocks(c, kUnspaced); }

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_formula(std::string_view cell) {
  return cell.starts_with('=') && (cell.size() == 1 || std::string_view("=<>").find(cell[1]) == std::string_view::npos);
}

bool ends_sentence(std::string_view text) {
  for (size_t at = text.size(); at > 0;) {
    const char32_t c = previous_character(text, at);
    if (kTerminals.find(c) != std::u32string_view::npos) return true;
    if (kClosers.find(c) == std::u32string_view::npos) return false;
  }
  return true;
}

}  // namespace lapilli::documents
