#include "server/work/language_detector.hpp"

#include <algorithm>

#include "server/work/languages.hpp"

#ifdef LAPILLI_HAVE_CLD2
#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>
#endif

namespace lapilli::server {

namespace {

// Letters of the scripts of East Asia, each about a word, and all others.
struct Letters {
  size_t kana = 0, han = 0, others = 0;
};

Letters letters_of(std::string_view text) {
  Letters letters;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
    const unsigned first = byte(i), code = (first & 15) << 12 | (byte(i + 1) & 63) << 6 | (byte(i + 2) & 63);
    const bool three = (first & 0xf0) == 0xe0;
    if (three && code >= 0x3040 && code <= 0x30ff) ++letters.kana;
    if (three && code >= 0x4e00 && code <= 0x9fff) ++letters.han;
    if ((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z')) ++letters.others;
  }
  return letters;
}

// Chinese and Japanese are told by their scripts, which libcld2 mistakes in short texts.
std::string by_script(std::string_view text) {
  constexpr size_t kLettersOfWord = 4;
  const Letters letters = letters_of(text);
  if (kLettersOfWord * (letters.kana + letters.han) < letters.others + 1) return "";
  return letters.kana > 0 ? "ja" : "zh";
}

// The code among these that a language has there: Bokmal and Norwegian stand for each other.
std::string among_these(const std::vector<std::string>& among, const std::string& language) {
  if (among.empty()) return language;
  if (const std::string found = find_language(among, language); !found.empty()) return found;
  return language == "no" ? find_language(among, "nb") : language == "nb" ? find_language(among, "no") : "";
}

#ifdef LAPILLI_HAVE_CLD2

// A text of this many bytes can be sure; shorter ones are as sure as they are long.
constexpr int kSureBytes = 32;
// More languages than these are not asked for one by one.
constexpr size_t kMostHints = 40;

struct Found {
  CLD2::Language languages[3] = {CLD2::UNKNOWN_LANGUAGE, CLD2::UNKNOWN_LANGUAGE, CLD2::UNKNOWN_LANGUAGE};
  int percents[3] = {0, 0, 0};
  double scores[3] = {0, 0, 0};
  int bytes = 0;  // of letters
  bool reliable = false;
};

Found look(std::string_view text, const char* hint) {
  Found found;
  int valid = 0;
  const CLD2::CLDHints hints = {hint, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  const int length = static_cast<int>(std::min<size_t>(text.size(), 1 << 20));
  CLD2::ExtDetectLanguageSummaryCheckUTF8(text.data(), length, true, &hints, CLD2::kCLDFlagBestEffort, found.languages,
                                          found.percents, found.scores, nullptr, &found.bytes, &found.reliable, &valid);
  return found;
}

void add_found(const Found& found, const std::vector<std::string>& among, std::vector<DetectedLanguage>& all) {
  for (int i = 0; i < 3; ++i) {
    if (found.languages[i] == CLD2::UNKNOWN_LANGUAGE) continue;
    const std::string code = among_these(among, short_language(CLD2::LanguageCode(found.languages[i])));
    const int sure = found.percents[i] * std::min(found.bytes, kSureBytes) / kSureBytes;
    if (!code.empty()) all.push_back({code, found.reliable ? sure : sure / 2});
  }
}

// For a text that points nowhere by itself: the language whose words it has most of if it is expected.
void add_hinted(std::string_view text, const std::vector<std::string>& among, std::vector<DetectedLanguage>& all) {
  double best = 0;
  for (const std::string& expected : among) {
    const Found found = look(text, expected.c_str());
    const bool it_is = found.languages[0] != CLD2::UNKNOWN_LANGUAGE &&
                       among_these({expected}, short_language(CLD2::LanguageCode(found.languages[0]))) == expected;
    if (!it_is || found.scores[0] <= best) continue;
    best = found.scores[0];
    all = {{expected, found.percents[0] * std::min(found.bytes, kSureBytes) / kSureBytes / 3}};
  }
}

std::vector<DetectedLanguage> candidates(std::string_view text, const std::vector<std::string>& among) {
  std::vector<DetectedLanguage> all;
  if (const std::string script = among_these(among, by_script(text)); !script.empty()) all.push_back({script, 90});
  if (!all.empty()) return all;
  add_found(look(text, nullptr), among, all);
  if (all.empty() && among.size() <= kMostHints) add_hinted(text, among, all);
  return all;
}

#else

std::vector<DetectedLanguage> candidates(std::string_view text, const std::vector<std::string>& among) {
  const std::string script = among_these(among, by_script(text));
  return script.empty() ? std::vector<DetectedLanguage>() : std::vector<DetectedLanguage>{{script, 90}};
}

#endif

}  // namespace

bool detects_languages() {
#ifdef LAPILLI_HAVE_CLD2
  return true;
#else
  return false;
#endif
}

std::vector<DetectedLanguage> detect_language(std::string_view text, const std::vector<std::string>& among) {
  std::vector<DetectedLanguage> all = candidates(text, among);
  if (all.empty() && !among.empty()) all.push_back({short_language(among.front()), 0});
  return all;
}

}  // namespace lapilli::server
