#include "text/kinds/moses.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "text/unicode/case_mapping.hpp"
#include "text/unicode/unicode.hpp"

namespace lapilli {
namespace {

// Stands for one of several consecutive full stops, as a letter for the rules. Private-use characters are removed
// before.
constexpr char32_t kDot = 0xF8F0;
constexpr char32_t kNoBreak = 0xA0;

bool in(char32_t c, std::u32string_view set) { return set.find(c) != std::u32string_view::npos; }
bool space(char32_t c) { return is_white_space(c) || (c >= 0x1C && c <= 0x1F); }
bool digit(char32_t c) { return c >= '0' && c <= '9'; }
bool alnum(char32_t c) {
  if (c == kDot) return true;
  if (c >= 0x300 && c <= 0x36F) return c == 0x345;  // combining marks are no letters
  return (is_word(c) && !is_punctuation(c)) || (c >= 0x2160 && c <= 0x2188);
}
bool alpha(char32_t c) { return alnum(c) && !is_number(c); }
bool lower(char32_t c) {
  std::string text;
  append_utf8(text, c);
  std::vector<char32_t> small;
  append_lower(small, c);
  return small.size() == 1 && small[0] == c && upper_case(text) != text;
}

// Rewrites a text from left to right. The rule looks at the text from `at` on, appends a replacement, and returns the
// number of characters replaced; 0 keeps this one.
template <class Rule>
MosesText rewrite(const MosesText& text, Rule&& rule) {
  MosesText out;
  out.reserve(text.size() + 8);
  for (size_t at = 0; at < text.size();) {
    const size_t used = rule(at, out);
    if (used == 0) out.push_back(text[at]);
    at += std::max<size_t>(used, 1);
  }
  return out;
}

void put(MosesText& out, std::string_view ascii, ByteRange range) {
  for (const char c : ascii) out.push_back({static_cast<char32_t>(c), range});
}

// The character at a position; 0 beyond the end.
char32_t look(const MosesText& text, size_t at) { return at < text.size() ? text[at].code : U'\0'; }

// Replaces each occurrence of `pattern`. New characters stem from everything they replace.
MosesText replace(const MosesText& text, std::u32string_view pattern, std::string_view by) {
  return rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    for (size_t k = 0; k < pattern.size(); ++k) {
      if (look(text, at + k) != pattern[k]) return 0;
    }
    put(out, by, {text[at].range.begin, text[at + pattern.size() - 1].range.end});
    return pattern.size();
  });
}

MosesText single_spaces(const MosesText& text, bool any_white_space) {
  return rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    size_t end = at;
    while (end < text.size() && (text[end].code == ' ' || (any_white_space && space(text[end].code)))) ++end;
    if (end > at) out.push_back({U' ', {text[at].range.begin, text[end - 1].range.end}});
    return end - at;
  });
}

MosesText strip(MosesText text) {
  const auto other = [](const MosesCharacter& c) { return !space(c.code); };
  text.erase(std::find_if(text.rbegin(), text.rend(), other).base(), text.end());
  text.erase(text.begin(), std::find_if(text.begin(), text.end(), other));
  return text;
}

// ---- uniform punctuation ----

MosesText ascii_punctuation(const MosesText& text) {
  static constexpr std::u32string_view kFrom =
      U"\uFF0C\u3001\u201D\u201C\u2236\uFF1A\uFF1F\u300A\u300B\uFF09\uFF01\uFF08\uFF1B\u300D\u300C\uFF10\uFF11\uFF12"
      U"\uFF13\uFF14\uFF15\uFF16\uFF17\uFF18\uFF19\uFF5E\u2019\u2501\u3008\u3009\u3010\u3011\uFF05";
  static constexpr std::string_view kTo = ",,\"\"::?\"\")!(;\"\"0123456789~'-<>[]%";
  static_assert(kFrom.size() == kTo.size());
  return rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    const char32_t c = text[at].code;
    if (c == 0x3002 || c == 0xFF0E) {  // full stops absorb the white space after them
      size_t end = at + 1;
      while (end < text.size() && space(text[end].code)) ++end;
      put(out, ". ", text[at].range);
      return end - at;
    }
    if (c == 0x2026) return put(out, "...", text[at].range), 1;
    const size_t found = kFrom.find(c);
    if (found == std::u32string_view::npos) return 0;
    put(out, kTo.substr(found, 1), text[at].range);
    return 1;
  });
}

MosesText no_spaces_around_punctuation(MosesText text) {
  text = replace(text, U"\r", "");
  text = replace(text, U"(", " (");
  text = replace(text, U")", ") ");
  text = single_spaces(text, false);
  const std::u32string_view marks = U".!:?;,";
  text = rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    if (text[at].code != ')' || look(text, at + 1) != ' ' || !in(look(text, at + 2), marks)) return 0;
    out.push_back(text[at]);
    out.push_back(text[at + 2]);
    return 3;
  });
  text = rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    if (text[at].code != ' ' || at + 1 >= text.size() || !in(text[at + 1].code, marks)) return 0;
    out.push_back(text[at + 1]);
    return 2;
  });
  text = replace(text, U"( ", "(");
  text = replace(text, U" )", ")");
  return rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    if (!digit(text[at].code) || look(text, at + 1) != ' ' || look(text, at + 2) != '%') return 0;
    out.push_back(text[at]);
    out.push_back(text[at + 2]);
    return 3;
  });
}

MosesText plain_quotes(MosesText text) {
  text = replace(text, U"`", "'");
  text = replace(text, U"''", " \" ");
  text = replace(text, U"\u201E", "\"");
  text = replace(text, U"\u2013", "-");
  text = replace(text, U"\u2014", " - ");
  text = single_spaces(text, false);
  for (const std::u32string_view quote : {U"\u00B4", U"\u2018", U"\u201A"}) text = replace(text, quote, "'");
  text = replace(text, U"''", "\"");
  for (const std::u32string_view quote :
       {U"\u00A0\u00AB\u00A0", U"\u00AB\u00A0", U"\u00AB", U"\u00A0\u00BB\u00A0", U"\u00A0\u00BB", U"\u00BB"})
    text = replace(text, quote, "\"");
  return text;
}

// No-break spaces are mostly typographic.
MosesText plain_spaces(MosesText text) {
  text = replace(text, U"\u00A0%", "%");
  text = rewrite(text, [&](size_t at, MosesText& out) -> size_t {  // after the sign for "number"
    if (text[at].code != kNoBreak || at < 2 || text[at - 1].code != 0xBA || text[at - 2].code != 'n') return 0;
    put(out, " ", text[at].range);
    return 1;
  });
  text = replace(text, U"\u00A0:", ":");
  text = rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    if (text[at].code != kNoBreak) return 0;
    const bool degrees = look(text, at + 1) == 0xBA && look(text, at + 2) == 'C';
    if (!degrees && !(look(text, at + 1) == 'c' && look(text, at + 2) == 'm')) return 0;
    put(out, " ", text[at].range);
    return 1;
  });
  text = replace(text, U"\u00A0?", "?");
  text = replace(text, U"\u00A0!", "!");
  text = replace(text, U"\u00A0;", ";");
  text = replace(text, U",\u00A0", ", ");
  return single_spaces(text, false);
}

// A no-break space between digits groups them.
MosesText grouped_digits(const MosesText& text, std::string_view by) {
  return rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    if (!digit(text[at].code) || look(text, at + 1) != kNoBreak || !digit(look(text, at + 2))) return 0;
    out.push_back(text[at]);
    put(out, by, text[at + 1].range);
    out.push_back(text[at + 2]);
    return 3;
  });
}

// English puts commas and full stops before a closing quote, other languages after it.
MosesText quotes_and_stops(MosesText text, std::string_view language) {
  if (language == "en") {
    return rewrite(text, [&](size_t at, MosesText& out) -> size_t {
      size_t end = at + 1;
      while (in(look(text, end), U",.") && end < text.size()) ++end;
      if (text[at].code != '"' || end == at + 1) return 0;
      out.insert(out.end(), text.begin() + static_cast<ptrdiff_t>(at) + 1, text.begin() + static_cast<ptrdiff_t>(end));
      out.push_back(text[at]);
      return end - at;
    });
  }
  if (language != "de" && language != "es" && language != "fr") return text;
  text = rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    if (text[at].code != ',' || look(text, at + 1) != '"') return 0;
    out.push_back(text[at + 1]);
    out.push_back(text[at]);
    return 2;
  });
  return rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    size_t end = at;
    while (look(text, end) == '.') ++end;
    if (end == at || look(text, end) != '"' || end + 1 >= text.size() || text[end + 1].code == '<') return 0;
    out.push_back(text[end]);
    out.insert(out.end(), text.begin() + static_cast<ptrdiff_t>(at), text.begin() + static_cast<ptrdiff_t>(end));
    return end + 1 - at;
  });
}

MosesText normalize(MosesText text, std::string_view language) {
  static constexpr std::array<std::string_view, 5> kComma = {"de", "es", "cz", "cs", "fr"};
  text = plain_spaces(plain_quotes(no_spaces_around_punctuation(ascii_punctuation(text))));
  text = quotes_and_stops(std::move(text), language);
  const bool comma = std::find(kComma.begin(), kComma.end(), language) != kComma.end();
  text = strip(grouped_digits(text, comma ? "," : "."));
  std::erase_if(text, [](const MosesCharacter& c) { return is_other(c.code); });
  return text;
}

// ---- words ----

// Abbreviations that keep their full stop; those after "#" do so only before numbers.
struct Prefixes {
  std::u32string_view always, before_number;
};
Prefixes prefixes_of(std::string_view language) {
  if (language == "de")
    return {
        U" Adj Adm Adv Asst Bart Bldg Brig Bros Capt Cmdr Col Comdr Con Corp Cpl DR Dr Ens Gen Gov Hon Hosp Insp Lt "
        U"MM MR MRS MS Maj Messrs Mlle Mme Mr Mrs Ms Msgr Op Ord Pfc Ph Prof Pvt Rep Reps Res Rev Rt Sen Sens Sfc Sgt "
        U"Sr St Supt Surg Mio Mrd bzw v vs usw d.h z.B u.a etc Mrd MwSt ggf d.J D.h m.E vgl I.F z.T sogen ff u.E g.U "
        U"g.g.A c.-\u00E0-d Buchst u.s.w sog u.\u00E4 Std evtl Zt Chr u.U o.\u00E4 Ltd b.A z.Zt spp sen SA k.o jun "
        U"i.H.v "
        U"dgl dergl Co zzt usf s.p.a Dkr bzgl BSE ",
        U" No Nos Art Nr pp ca Ca "};
  if (language == "ru")
    return {
        U" \u0442\u044B\u0441 \u0433 \u0433\u0433 \u043C\u043B\u043D \u043C\u043B\u0440\u0434 \u0434\u043E\u043B\u043B "
        U"\u0440\u0443\u0431 \u043A\u043E\u043F \u0441\u043C \u0441\u0442\u0440 \u0440\u0438\u0441 "
        U"\u0442\u0430\u0431\u043B "
        U"\u0438\u043C \u043F\u0440\u043E\u0444 \u0434\u0440 \u043F\u0440 \u0443\u043B \u0434 \u043A\u0432 "
        U"\u0442\u043E\u043C ",
        U""};
  return {
      U" Adj Adm Adv Asst Bart Bldg Brig Bros Capt Cmdr Col Comdr Con Corp Cpl DR Dr Drs Ens Gen Gov Hon Hr Hosp Insp "
      U"Lt "
      U"MM MR MRS MS Maj Messrs Mlle Mme Mr Mrs Ms Msgr Op Ord Pfc Ph Prof Pvt Rep Reps Res Rev Rt Sen Sens Sfc Sgt Sr "
      U"St Supt Surg v vs i.e rev e.g Nos Nr ",
      U" No Art pp "};
}

bool listed(std::u32string_view list, const std::u32string& word) {
  return list.find(U' ' + word + U' ') != std::u32string_view::npos;
}
bool single_letter(const std::u32string& word) { return word.size() == 1 && alpha(word[0]) && !lower(word[0]); }

std::vector<MosesText> split(const MosesText& text) {
  std::vector<MosesText> words;
  bool open = false;
  for (const MosesCharacter& c : text) {
    if (space(c.code)) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    words.back().push_back(c);
    open = true;
  }
  return words;
}

// Separates full stops at the ends of words, unless the word is an abbreviation or lower case follows.
MosesText set_stops_apart(const MosesText& text, std::string_view language) {
  const Prefixes prefixes = prefixes_of(language);
  const std::vector<MosesText> words = split(text);
  MosesText out;
  for (size_t i = 0; i < words.size(); ++i) {
    const MosesText& word = words[i];
    if (i > 0) out.push_back({U' ', {word[0].range.begin, word[0].range.begin}});
    out.insert(out.end(), word.begin(), word.end());
    if (word.size() < 2 || word.back().code != '.') continue;
    std::u32string prefix;
    for (const MosesCharacter& c : word) prefix.push_back(c.code);
    prefix.pop_back();
    const bool dotted = in(U'.', prefix) && std::any_of(prefix.begin(), prefix.end(), alpha);
    const char32_t next = i + 1 < words.size() ? words[i + 1][0].code : U'\0';
    if (dotted || single_letter(prefix) || listed(prefixes.always, prefix) || (next != 0 && lower(next))) continue;
    if (listed(prefixes.before_number, prefix) && digit(next)) continue;
    out.insert(out.end() - 1, {U' ', {word.back().range.begin, word.back().range.begin}});
  }
  return out;
}

enum class Class { alpha, number, other };
Class class_of(char32_t c) { return alpha(c) ? Class::alpha : is_number(c) ? Class::number : Class::other; }

// One apostrophe rule: the characters on its sides, and where spaces go.
template <class Left, class Right>
MosesText apostrophe(const MosesText& text, Left&& left, Right&& right, std::string_view with) {
  return rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    if (at + 2 >= text.size() || text[at + 1].code != '\'' || !left(text[at].code) || !right(text[at + 2].code))
      return 0;
    out.push_back(text[at]);
    put(out, with, text[at + 1].range);
    out.push_back(text[at + 2]);
    return 3;
  });
}

MosesText apostrophes(MosesText text, std::string_view language) {
  const auto letter = [](char32_t c) { return class_of(c) == Class::alpha; };
  const auto no_letter = [](char32_t c) { return class_of(c) != Class::alpha; };
  const auto neither = [](char32_t c) { return class_of(c) == Class::other; };
  const bool english = language == "en";
  if (!english && language != "fr" && language != "it") return replace(text, U"'", " ' ");
  text = apostrophe(text, no_letter, no_letter, " ' ");
  if (english)
    text = apostrophe(text, neither, letter, " ' ");
  else
    text = apostrophe(text, no_letter, letter, " ' ");
  text = apostrophe(text, letter, no_letter, " ' ");
  text = apostrophe(text, letter, letter, english ? " '" : "' ");
  if (!english) return text;
  return apostrophe(
      text, is_number, [](char32_t c) { return c == 's'; }, " '");
}

MosesText commas(MosesText text) {
  text = rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    if (is_number(text[at].code) || look(text, at + 1) != ',') return 0;
    out.push_back(text[at]);
    put(out, " , ", text[at + 1].range);
    return 2;
  });
  text = rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    if (text[at].code != ',' || at + 1 >= text.size() || is_number(text[at + 1].code)) return 0;
    put(out, " , ", text[at].range);
    out.push_back(text[at + 1]);
    return 2;
  });
  if (text.size() < 2 || text.back().code != ',' || !is_number(text[text.size() - 2].code)) return text;
  const ByteRange range = text.back().range;
  text.pop_back();
  put(text, " , ", range);
  return text;
}

MosesText escape(const MosesText& text) {
  return rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    const auto by = [&](std::string_view entity) -> size_t { return put(out, entity, text[at].range), 1; };
    switch (text[at].code) {
      case '&': return by("&amp;");
      case '|': return by("&#124;");
      case '<': return by("&lt;");
      case '>': return by("&gt;");
      case '\'': return by("&apos;");
      case '"': return by("&quot;");
      case '[': return by("&#91;");
      case ']': return by("&#93;");
      case kDot: return by(".");
      default: return 0;
    }
  });
}

// Several consecutive full stops form one word.
MosesText keep_dots_together(const MosesText& text) {
  return rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    size_t end = at;
    while (look(text, end) == '.') ++end;
    if (end < at + 2) return 0;
    put(out, " ", {text[at].range.begin, text[at].range.begin});
    for (size_t i = at; i < end; ++i) out.push_back({kDot, text[i].range});
    if (end < text.size()) put(out, " ", {text[end].range.begin, text[end].range.begin});
    return end - at;
  });
}

}  // namespace

MosesText moses_text(std::string_view text, uint64_t begin) {
  MosesText out;
  for (size_t at = 0; at < text.size();) {
    const size_t from = at;
    const char32_t c = next_character(text, at);
    out.push_back({c, {begin + from, begin + at}});
  }
  return out;
}

MosesText uniform_punctuation(MosesText text, std::string_view language) {
  return strip(single_spaces(normalize(std::move(text), language), false));
}

MosesText ascii_marks(MosesText text) {
  text = ascii_punctuation(text);
  for (MosesCharacter& c : text)
    if (is_other(c.code)) c.code = U' ';
  return strip(single_spaces(text, false));
}

std::vector<MosesText> moses_tokenize(MosesText text, std::string_view language, bool normalized, bool split_dashes) {
  if (normalized) text = normalize(std::move(text), language);
  text = single_spaces(text, true);
  std::erase_if(text, [](const MosesCharacter& c) { return c.code < 0x20; });
  text = strip(std::move(text));
  text = rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    const char32_t c = text[at].code;
    if (alnum(c) || space(c) || in(c, U".'`,-")) return 0;
    put(out, " ", {text[at].range.begin, text[at].range.begin});
    out.push_back(text[at]);
    put(out, " ", {text[at].range.end, text[at].range.end});
    return 1;
  });
  text = rewrite(text, [&](size_t at, MosesText& out) -> size_t {
    if (!split_dashes || text[at].code != '-' || at == 0 || !alnum(text[at - 1].code) || !alnum(look(text, at + 1)))
      return 0;
    put(out, " @-@ ", text[at].range);
    return 1;
  });
  text = commas(keep_dots_together(text));
  text = set_stops_apart(apostrophes(std::move(text), language), language);
  text = strip(single_spaces(text, true));
  if (text.size() >= 2 && text.back().code == '\'' && text[text.size() - 2].code == '.') {
    const MosesCharacter quote = text.back(), stop = text[text.size() - 2];
    text.resize(text.size() - 2);
    put(text, " ", {stop.range.begin, stop.range.begin});
    text.push_back(stop);
    put(text, " ", {stop.range.end, stop.range.end});
    text.push_back(quote);
  }
  return split(escape(text));
}

// ---- detokenization ----

namespace {

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  out.reserve(text.size());
  for (size_t at; (at = text.find(from)) != std::string_view::npos; text.remove_prefix(at + from.size())) {
    out.append(text.substr(0, at));
    out.append(to);
  }
  return out.append(text);
}

bool all_in(const std::u32string& word, std::u32string_view set) {
  return std::all_of(word.begin(), word.end(), [&](char32_t c) { return in(c, set); });
}
bool currency(char32_t c) {
  return c == '$' || (c >= 0xA2 && c <= 0xA5) || c == 0x58F || c == 0x60B || c == 0x9F2 || c == 0x9F3 || c == 0xE3F ||
         c == 0x17DB || (c >= 0x20A0 && c <= 0x20C0) || c == 0xFDFC || c == 0xFE69 || c == 0xFF04 || c == 0xFFE0 ||
         c == 0xFFE1 || c == 0xFFE5 || c == 0xFFE6;
}
bool opens(const std::u32string& word) {
  return std::all_of(word.begin(), word.end(), [](char32_t c) { return currency(c) || in(c, U"([{\u00BF\u00A1"); });
}
bool east_asian(char32_t c) {
  return (c >= 0x1100 && c <= 0x11FF) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xA840 && c <= 0xA87F) ||
         (c >= 0xAC00 && c <= 0xD7AF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE4F) ||
         (c >= 0xFF65 && c <= 0xFFDC) || (c >= 0x20000 && c <= 0x2FFFF);
}

// Joins words with or without spaces.
class Joiner {
 public:
  explicit Joiner(std::string_view language)
      : language_(language), elides_(language == "fr" || language == "it" || language == "ga") {}

  // `previous` and `next` may be null.
  void add(const std::u32string& word, const std::u32string* previous, const std::u32string* next) {
    if (east_asian(word[0]) && language_ != "ko") {
      append(word, previous != nullptr && east_asian(previous->back()) ? false : space_, true);
    } else if (opens(word)) {
      append(word, space_, false);
    } else if (all_in(word, U",.?!:;\\%}])")) {
      append(word, language_ == "fr" && word.size() == 1 && in(word[0], U"?!:;\\%"), true);
    } else if (language_ == "en" && previous != nullptr && word.size() > 1 && word[0] == '\'' && alpha(word[1])) {
      append(word, false, true);
    } else if (elides_ && next != nullptr && word.size() > 1 && word.back() == '\'' && alpha(word[word.size() - 2]) &&
               alpha((*next)[0])) {
      append(word, space_, false);
    } else if (all_in(word, U"'\"\u201E\u201C`")) {
      quote(word, previous);
    } else {
      append(word, space_, true);
    }
  }
  std::string finish() && { return std::move(text_); }

 private:
  void append(const std::u32string& word, bool space_before, bool space_behind) {
    if (space_before) text_ += ' ';
    for (const char32_t c : word) append_utf8(text_, c);
    space_ = space_behind;
  }
  // The first quote of its kind opens, the next one closes.
  void quote(const std::u32string& word, const std::u32string* previous) {
    const std::u32string kind = all_in(word, U"\u201E\u201C\u201D") ? U"\"" : word;
    auto open = std::find(open_.begin(), open_.end(), kind);
    if (open != open_.end()) {
      append(word, false, true);
      open_.erase(open);
    } else if (language_ == "en" && word == U"'" && previous != nullptr && previous->back() == 's') {
      append(word, false, true);  // "the Jones' house"
    } else {
      append(word, space_, false);
      open_.push_back(kind);
    }
  }

  std::string_view language_;
  bool elides_;
  bool space_ = true;
  std::string text_;
  std::vector<std::u32string> open_;
};

}  // namespace

std::string moses_detokenize(const std::vector<std::string>& words, std::string_view language) {
  std::string joined = " ";
  for (const std::string& word : words) joined += word + " ";
  joined = replace_all(joined, " @-@ ", "-");
  constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&bar;", "|"},   {"&#124;", "|"}, {"&lt;", "<"},  {"&gt;", ">"},  {"&bra;", "["}, {"&ket;", "]"},
      {"&quot;", "\""}, {"&apos;", "'"}, {"&#91;", "["}, {"&#93;", "]"}, {"&amp;", "&"}};
  for (const auto& [entity, character] : kEntities) joined = replace_all(joined, entity, character);
  std::vector<std::u32string> parts;
  for (const MosesText& word : split(moses_text(joined, 0))) {
    parts.emplace_back();
    for (const MosesCharacter& c : word) parts.back().push_back(c.code);
  }
  Joiner joiner(language);
  for (size_t i = 0; i < parts.size(); ++i)
    joiner.add(parts[i], i > 0 ? &parts[i - 1] : nullptr, i + 1 < parts.size() ? &parts[i + 1] : nullptr);
  std::string text = std::move(joiner).finish();
  size_t at = 0;
  while (at < text.size() && text[at] == ' ') ++at;
  text.erase(0, at);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace lapilli
