#include "text/unicode/utf8.hpp"

#include <cstdint>

namespace lapilli {
namespace {

// One decoding step. A well-formed sequence has length 1 to 4; for an ill-formed one, `length` is the longest part that
// could have begun a well-formed one (at least one byte).
struct Sequence {
  bool valid;
  size_t length;
  uint32_t code;
};

Sequence next_sequence(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return {true, 1, lead};
  if (lead < 0xC2 || lead > 0xF4) return {false, 1, 0};
  const size_t need = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  // Only the second byte's range depends on the lead: it excludes overlong forms, surrogates and code points above
  // U+10FFFF.
  unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  uint32_t code = lead & (0x3Fu >> need);
  for (size_t k = 1; k <= need; ++k) {
    if (at + k >= text.size() || byte(at + k) < low || byte(at + k) > high) return {false, k, 0};
    code = code << 6 | (byte(at + k) & 0x3Fu);
    low = 0x80, high = 0xBF;
  }
  return {true, need + 1, code};
}

bool is_space(uint32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

}  // namespace

CodePoint decode_utf8(std::string_view text, size_t at) {
  const Sequence s = next_sequence(text, at);
  return {s.valid ? s.code : 0, static_cast<uint32_t>(s.length), s.valid};
}

size_t find_invalid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Sequence s = next_sequence(text, at);
    if (!s.valid) return at;
    at += s.length;
  }
  return std::string_view::npos;
}

Status check_utf8(std::string_view text, const std::string& what) {
  const size_t at = find_invalid_utf8(text);
  if (at == std::string_view::npos) return {};
  return fail(ErrorCode::invalid_argument,
              "%s is not valid UTF-8: byte 0x%02x at offset %u; convert it to UTF-8 first (for example with iconv)",
              what, static_cast<unsigned>(static_cast<unsigned char>(text[at])), at);
}

static std::string mend(std::string_view text, std::string_view replacement) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Sequence s = next_sequence(text, at);
    if (s.valid) {
      out.append(text.substr(at, s.length));
    } else {
      out.append(replacement);
    }
    at += s.length;
  }
  return out;
}

std::string replace_invalid_utf8(std::string_view text) { return mend(text, "\xEF\xBF\xBD"); }
std::string drop_invalid_utf8(std::string_view text) { return mend(text, ""); }

std::u32string to_utf32(std::string_view text) {
  std::u32string out;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    out += c.valid ? static_cast<char32_t>(c.code) : U'\uFFFD';
    at += c.bytes;
  }
  return out;
}

std::string_view strip_left(std::string_view text) {
  while (!text.empty()) {
    const Sequence s = next_sequence(text, 0);
    if (!s.valid || !is_space(s.code)) break;
    text.remove_prefix(s.length);
  }
  return text;
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    size_t at = text.size() - 1;
    while (at > 0 && text.size() - at < 4 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
    const Sequence s = next_sequence(text, at);
    if (!s.valid || at + s.length != text.size() || !is_space(s.code)) break;
    text.remove_suffix(s.length);
  }
  return text;
}

std::string_view strip(std::string_view text) { return strip_right(strip_left(text)); }

std::string quote_text(std::string_view text, size_t limit) {
  std::string out = "\"";
  size_t at = 0;
  while (at < text.size()) {
    const Sequence s = next_sequence(text, at);
    if (at + s.length > limit) break;
    if (s.valid && s.code >= 0x20 && s.code != 0x7F && !(s.code >= 0x80 && s.code < 0xA0)) {
      out.append(text.substr(at, s.length));
    } else {
      for (size_t k = 0; k < s.length; ++k)
        out += format("\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(text[at + k])));
    }
    at += s.length;
  }
  return out + (at < text.size() ? "...\"" : "\"");
}

}  // namespace lapilli
