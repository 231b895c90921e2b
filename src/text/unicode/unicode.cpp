#include "text/unicode/unicode.hpp"

#include <algorithm>
#include <utility>

#if LAPILLI_HAVE_UTF8PROC
#include <utf8proc.h>
#endif

namespace lapilli {

char32_t next_character(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  const char32_t first = byte(at);
  if (first < 0x80) return ++at, first;
  const size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  char32_t c = first & (0xFFU >> (length + 1));
  for (size_t i = at + 1; i < at + length; ++i) c = (c << 6) | (byte(i) & 0x3F);
  at += length;
  return c;
}

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += {static_cast<char>(0xC0 | (c >> 6)), static_cast<char>(0x80 | (c & 0x3F))};
  } else if (c < 0x10000) {
    out += {static_cast<char>(0xE0 | (c >> 12)), static_cast<char>(0x80 | ((c >> 6) & 0x3F)),
            static_cast<char>(0x80 | (c & 0x3F))};
  } else {
    out += {static_cast<char>(0xF0 | (c >> 18)), static_cast<char>(0x80 | ((c >> 12) & 0x3F)),
            static_cast<char>(0x80 | ((c >> 6) & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
  }
}

bool is_white_space(char32_t c) {
  return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

#if LAPILLI_HAVE_UTF8PROC

bool unicode_available() { return true; }
Status require_unicode(const char*) { return {}; }

namespace {

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }
int combining_class(char32_t c) { return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class; }

void decompose(const std::vector<char32_t>& text, bool compatibility, std::vector<ChangedCharacter>& out) {
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (compatibility ? UTF8PROC_COMPAT : 0));
  for (const char32_t c : text) {
    utf8proc_int32_t parts[32];  // the longest decomposition has 18 characters
    int boundary = 0;
    const auto n =
        c < 0x80 ? -1 : utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, 32, options, &boundary);
    if (n < 0 || n > 32) out.push_back({c, 0});
    for (utf8proc_ssize_t k = 0; k < n && n <= 32; ++k)
      out.push_back({static_cast<char32_t>(parts[k]), k == 0 ? 0 : 1});
  }
  // Canonical order: sorts each run of characters with a combining class by that class.
  for (size_t i = 0; i < out.size();) {
    if (out[i].character < 0x300 || combining_class(out[i].character) == 0) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < out.size() && combining_class(out[end].character) != 0) ++end;
    std::stable_sort(out.begin() + static_cast<ptrdiff_t>(i), out.begin() + static_cast<ptrdiff_t>(end),
                     [](const ChangedCharacter& a, const ChangedCharacter& b) {
                       return combining_class(a.character) < combining_class(b.character);
                     });
    i = end;
  }
}

// 0 if the two do not compose.
char32_t compose_pair(char32_t first, char32_t second) {
  if (second < 0x300) return 0;
  utf8proc_int32_t pair[3] = {static_cast<utf8proc_int32_t>(first), static_cast<utf8proc_int32_t>(second), 0};
  const auto n = utf8proc_normalize_utf32(pair, 2, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  return n == 1 ? static_cast<char32_t>(pair[0]) : 0;
}

void compose(std::vector<ChangedCharacter>& text) {
  constexpr size_t none = static_cast<size_t>(-1);
  size_t starter = none;
  int last_class = 0;  // of the characters between the starter and here; 0: none
  size_t size = 0;
  const std::vector<ChangedCharacter> all = std::exchange(text, {});
  for (const ChangedCharacter& c : all) {
    const int own = c.character < 0x300 ? 0 : combining_class(c.character);
    const bool adjacent = starter != none && starter + 1 == size;
    if (starter != none && (adjacent || (last_class != 0 && last_class < own))) {
      if (const char32_t both = compose_pair(text[starter].character, c.character); both != 0) {
        text[starter] = {both, text[starter].change + c.change - 1};
        continue;
      }
    }
    if (own == 0) starter = size;
    last_class = own;
    text.push_back(c);
    ++size;
  }
}

}  // namespace

bool is_punctuation(char32_t c) {
  if (c < 0x80) return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
  const auto k = category(c);
  return k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO;
}

bool is_mark(char32_t c) {
  const auto k = category(c);
  return k >= UTF8PROC_CATEGORY_MN && k <= UTF8PROC_CATEGORY_ME;
}

bool is_nonspacing_mark(char32_t c) { return category(c) == UTF8PROC_CATEGORY_MN; }

bool is_other(char32_t c) {
  const auto k = category(c);
  return k == UTF8PROC_CATEGORY_CC || k == UTF8PROC_CATEGORY_CF || k == UTF8PROC_CATEGORY_CO;
}

bool is_number(char32_t c) {
  const auto k = category(c);
  return k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO;
}

bool is_word(char32_t c) {
  if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  const auto k = category(c);
  // Circled and squared letters are symbols, but alphabetic.
  const bool enclosed = (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
                        (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
  return (k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_NL) || k == UTF8PROC_CATEGORY_PC || enclosed ||
         c == 0x200C || c == 0x200D;
}

void append_lower(std::vector<char32_t>& out, char32_t c) {
  if (c == 0x130) {  // the only character whose lower case has two
    out.insert(out.end(), {U'i', char32_t{0x307}});
    return;
  }
  out.push_back(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}

std::vector<ChangedCharacter> normalize(const std::vector<char32_t>& text, UnicodeForm form) {
  std::vector<ChangedCharacter> out;
  out.reserve(text.size());
  decompose(text, form == UnicodeForm::nfkc || form == UnicodeForm::nfkd, out);
  if (form == UnicodeForm::nfc || form == UnicodeForm::nfkc) compose(out);
  return out;
}

std::vector<size_t> grapheme_ends(std::string_view text) {
  std::vector<size_t> ends;
  utf8proc_int32_t state = 0;
  char32_t before = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t c = next_character(text, at);
    if (begin > 0 && utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before),
                                                      static_cast<utf8proc_int32_t>(c), &state))
      ends.push_back(begin);
    before = c;
  }
  if (!text.empty()) ends.push_back(text.size());
  return ends;
}

#else

bool unicode_available() { return false; }
Status require_unicode(const char* what) {
  return fail(ErrorCode::unsupported, "%s needs utf8proc, which this build of Lapilli lacks (CMake: LAPILLI_UNICODE)",
              what);
}
bool is_punctuation(char32_t) { return false; }
bool is_mark(char32_t) { return false; }
bool is_nonspacing_mark(char32_t) { return false; }
bool is_other(char32_t) { return false; }
bool is_number(char32_t) { return false; }
bool is_word(char32_t) { return false; }
void append_lower(std::vector<char32_t>& out, char32_t c) { out.push_back(c); }
std::vector<ChangedCharacter> normalize(const std::vector<char32_t>&, UnicodeForm) { return {}; }
std::vector<size_t> grapheme_ends(std::string_view) { return {}; }

#endif

}  // namespace lapilli
