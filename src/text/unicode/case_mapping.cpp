#include "text/unicode/case_mapping.hpp"

#include "text/unicode/unicode.hpp"

#if LAPILLI_HAVE_UTF8PROC
#include <utf8proc.h>
#endif

namespace lapilli {

#if LAPILLI_HAVE_UTF8PROC

namespace {

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

bool is_cased(char32_t c) {
  const utf8proc_category_t k = category(c);
  if (k == UTF8PROC_CATEGORY_LU || k == UTF8PROC_CATEGORY_LL || k == UTF8PROC_CATEGORY_LT) return true;
  // Other_Lowercase and Other_Uppercase: ordinals, modifier letters, Roman numerals, circled letters.
  return c == 0xAA || c == 0xBA || (c >= 0x2B0 && c <= 0x2B8) || c == 0x2C0 || c == 0x2C1 ||
         (c >= 0x2E0 && c <= 0x2E4) || c == 0x345 || c == 0x37A || (c >= 0x1D2C && c <= 0x1D6A) || c == 0x1D78 ||
         (c >= 0x1D9B && c <= 0x1DBF) || c == 0x2071 || c == 0x207F || (c >= 0x2090 && c <= 0x209C) ||
         (c >= 0x2160 && c <= 0x217F) || (c >= 0x24B6 && c <= 0x24E9);
}

bool is_case_ignorable(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default:  // punctuation that may occur within words
      return c == '\'' || c == '.' || c == ':' || c == 0xB7 || c == 0x387 || c == 0x55F || c == 0x5F4 || c == 0x2018 ||
             c == 0x2019 || c == 0x2024 || c == 0x2027 || c == 0xFE13 || c == 0xFE52 || c == 0xFE55 || c == 0xFF07 ||
             c == 0xFF0E || c == 0xFF1A;
  }
}

constexpr char32_t kSigma = 0x3A3, kFinalSigma = 0x3C2;

// True after a letter and before none.
bool is_final(const std::vector<char32_t>& codes, size_t at) {
  size_t before = at, behind = at + 1;
  while (before > 0 && is_case_ignorable(codes[before - 1])) --before;
  while (behind < codes.size() && is_case_ignorable(codes[behind])) ++behind;
  return before > 0 && is_cased(codes[before - 1]) && (behind == codes.size() || !is_cased(codes[behind]));
}

}  // namespace

Status require_case_mapping(const char*) { return {}; }

std::string upper_case(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const char32_t c = next_character(text, at);
    // Characters with several upper-case characters are those whose folded form has several; its upper case is theirs.
    // Only capital letters stay unchanged.
    utf8proc_int32_t folded[8];
    int boundary = 0;
    const auto n =
        c < 0x80 || category(c) == UTF8PROC_CATEGORY_LU
            ? 0
            : utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), folded, 8, UTF8PROC_CASEFOLD, &boundary);
    if (n >= 2 && n <= 8) {
      for (utf8proc_ssize_t i = 0; i < n; ++i) append_utf8(out, static_cast<char32_t>(utf8proc_toupper(folded[i])));
    } else {
      append_utf8(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
    }
  }
  return out;
}

std::vector<CasedCharacter> lower_case(const std::vector<char32_t>& codes) {
  std::vector<CasedCharacter> out;
  out.reserve(codes.size());
  std::vector<char32_t> lower;
  for (size_t i = 0; i < codes.size(); ++i) {
    lower.clear();
    if (codes[i] == kSigma && is_final(codes, i))
      lower.push_back(kFinalSigma);
    else
      append_lower(lower, codes[i]);
    for (const char32_t c : lower) out.push_back({c, i});
  }
  return out;
}

#else

Status require_case_mapping(const char* what) { return require_unicode(what); }
std::string upper_case(std::string_view text) { return std::string(text); }
std::vector<CasedCharacter> lower_case(const std::vector<char32_t>& codes) {
  std::vector<CasedCharacter> out;
  for (size_t i = 0; i < codes.size(); ++i) out.push_back({codes[i], i});
  return out;
}

#endif

}  // namespace lapilli
