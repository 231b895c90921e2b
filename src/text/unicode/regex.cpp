#include "text/unicode/regex.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "text/unicode/regex_dialect.hpp"
#include "text/unicode/utf8.hpp"

#if LAPILLI_HAVE_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#endif

namespace lapilli {

#if LAPILLI_HAVE_PCRE2

namespace {

constexpr size_t kMaxPatternBytes = size_t{64} << 10;
constexpr uint32_t kMaxNesting = 100;         // of parentheses
constexpr uint32_t kHeapLimit = 64 * 1024;    // KiB for one search's backtracking points
constexpr uint32_t kMatchLimit = 20'000'000;  // backtracking points of one search

struct Free {
  void operator()(pcre2_code* p) const { pcre2_code_free(p); }
  void operator()(pcre2_compile_context* p) const { pcre2_compile_context_free(p); }
  void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
  void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

std::string error_text(int code) {
  PCRE2_UCHAR text[160] = {};
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

struct Compiled {
  Owned<pcre2_code> code;
  int error = 0;
  size_t at = 0;
};

Result<Compiled> compile_translated(const std::string& pattern) {
  const Owned<pcre2_compile_context> context(pcre2_compile_context_create(nullptr));
  if (!context) throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context.get(), kMaxNesting);
  Compiled out;
  PCRE2_SIZE at = 0;
  out.code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                               PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &out.error, &at,
                               context.get()));
  out.at = at;
  return out;
}

}  // namespace

struct Regex::Impl {
  Owned<pcre2_code> code;
  std::string pattern;
};

bool regex_available() { return true; }

Result<Regex> Regex::compile(const std::string& pattern) {
  if (pattern.size() > kMaxPatternBytes)
    return fail(ErrorCode::invalid_data, "a regular expression of %u bytes is too long (limit %u)", pattern.size(),
                kMaxPatternBytes);
  LAPILLI_CHECK(check_utf8(pattern, "a regular expression"));
  LAPILLI_TRY(const std::string scripts, translate_pattern(pattern, true));
  LAPILLI_TRY(Compiled compiled, compile_translated(scripts));
  if (!compiled.code) {
    // Names other than scripts (\p{Emoji}) are binary properties.
    LAPILLI_TRY(const std::string plain, translate_pattern(pattern, false));
    LAPILLI_TRY(compiled, compile_translated(plain));
  }
  if (!compiled.code)
    return fail(ErrorCode::invalid_data, "the regular expression %s is wrong near byte %u: %s", quote_text(pattern, 80),
                compiled.at, error_text(compiled.error));
  return Regex(std::unique_ptr<const Impl>(new Impl{std::move(compiled.code), pattern}));
}

Result<std::vector<Regex::Match>> Regex::find_all(std::string_view text) const {
  const Owned<pcre2_match_context> context(pcre2_match_context_create(nullptr));
  const Owned<pcre2_match_data> data(pcre2_match_data_create(1, nullptr));
  if (!context || !data) throw std::bad_alloc();
  pcre2_set_match_limit(context.get(), kMatchLimit);
  pcre2_set_heap_limit(context.get(), kHeapLimit);

  std::vector<Match> matches;
  // An empty view may have a null pointer, which PCRE2 would reject.
  const char* const start = text.data() == nullptr ? "" : text.data();
  size_t at = 0;
  size_t last_end = std::string_view::npos;  // of the previous match, where an empty one is not allowed
  while (at <= text.size()) {
    const int rc = pcre2_match(impl_->code.get(), reinterpret_cast<PCRE2_SPTR>(start), text.size(), at,
                               PCRE2_NO_UTF_CHECK, data.get(), context.get());
    if (rc == PCRE2_ERROR_NOMATCH) break;
    if (rc == PCRE2_ERROR_NOMEMORY) throw std::bad_alloc();
    if (rc < 0)
      return fail(ErrorCode::unsupported, "the regular expression %s fails on this text at byte %u: %s",
                  quote_text(impl_->pattern, 80), at, error_text(rc));
    const PCRE2_SIZE* const found = pcre2_get_ovector_pointer(data.get());
    const Match match{found[0], found[1]};
    // \K can move the start of a match anywhere.
    if (match.begin > match.end || match.begin < at)
      return fail(ErrorCode::unsupported, "the regular expression %s moves the start of its matches",
                  quote_text(impl_->pattern, 80));
    if (match.begin < match.end) {
      matches.push_back(match);
      at = last_end = match.end;
      continue;
    }
    if (match.begin != last_end) matches.push_back(match);
    at = match.end + 1;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  }
  return matches;
}

#else

struct Regex::Impl {};

bool regex_available() { return false; }

Result<Regex> Regex::compile(const std::string& pattern) {
  return fail(ErrorCode::unsupported,
              "the regular expression %s needs PCRE2, which this build of Lapilli lacks (CMake: LAPILLI_REGEX)",
              quote_text(pattern, 80));
}
Result<std::vector<Regex::Match>> Regex::find_all(std::string_view) const { return std::vector<Match>{}; }

#endif

Regex::Regex(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

}  // namespace lapilli
