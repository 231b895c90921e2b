#include "text/unicode/regex_dialect.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

// Contents of character classes. PCRE2's own \s includes U+180E, its \w lacks marks, its \h has another meaning.
constexpr std::string_view kSpace =
    R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
constexpr std::string_view kWord =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189})";
// Outside of classes Oniguruma uses a table for characters below U+0100, in which superscript digits and fractions are
// word characters.
constexpr std::string_view kLatinWord = R"(\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})";
constexpr std::string_view kHex = "0-9A-Fa-f";

std::string_view shorthand(char c) {
  switch (c) {
    case 's':
    case 'S': return kSpace;
    case 'w':
    case 'W': return kWord;
    case 'h':
    case 'H': return kHex;
    default: return {};
  }
}
bool negative(char c) { return c == 'S' || c == 'W' || c == 'H'; }

// Long names of general categories; PCRE2 knows only the letters.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kCategories{{{"Letter", "L"},
                                                                                     {"Mark", "M"},
                                                                                     {"Number", "N"},
                                                                                     {"Punctuation", "P"},
                                                                                     {"Punct", "P"},
                                                                                     {"Symbol", "S"},
                                                                                     {"Separator", "Z"},
                                                                                     {"Other", "C"},
                                                                                     {"Digit", "Nd"},
                                                                                     {"Alpha", "Alphabetic"}}};

class Translator {
 public:
  Translator(const std::string& pattern, bool scripts_only) : in_(pattern), scripts_only_(scripts_only) {}

  Result<std::string> run() {
    while (at_ < in_.size()) {
      if (in_[at_] == '\\') {
        LAPILLI_CHECK(escape(false));
      } else if (in_[at_] == '[') {
        LAPILLI_CHECK(character_class());
      } else {
        out_ += in_[at_++];
      }
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] Failure refuse(const char* what) const {
    return fail(ErrorCode::unsupported, "the regular expression %s has %s at byte %u", quote_text(in_, 80), what, at_);
  }

  Status escape(bool in_class) {
    if (at_ + 1 >= in_.size()) return refuse("a backslash at its end");
    const char c = in_[at_ + 1];
    if (const std::string_view inside = shorthand(c); !inside.empty()) {
      at_ += 2;
      if (!in_class) {
        out_ += negative(c) ? "[^" : "[";
        out_ += inside;
        if (inside == kWord) out_ += kLatinWord;
        out_ += "]";
      } else if (!negative(c)) {
        out_ += inside;
      } else if (c == 'S') {
        // Without a union of negated classes, uses PCRE2's own \S, which differs only at U+180E.
        out_ += "\\S\\x{180e}";
      } else {
        return refuse("\\W or \\H in a class");
      }
      return {};
    }
    if (!in_class && (c == 'b' || c == 'B')) {
      at_ += 2;
      boundary(c == 'B');
      return {};
    }
    if ((c == 'p' || c == 'P') && at_ + 2 < in_.size() && in_[at_ + 2] == '{') return property();
    // An escaped character may have more bytes; they are copied next.
    out_ += in_.substr(at_, 2);
    at_ += 2;
    return {};
  }

  // A boundary between a word and a non-word character; inverse: any other position.
  void boundary(bool inverse) {
    const std::string word = "[" + std::string(kWord) + std::string(kLatinWord) + "]";
    const char* const behind[] = {inverse ? "(?=" : "(?!", inverse ? "(?!" : "(?="};
    out_ += "(?:(?<=" + word + ")" + behind[0] + word + ")|(?<!" + word + ")" + behind[1] + word + "))";
  }

  Status property() {
    const size_t end = in_.find('}', at_);
    if (end == std::string::npos) return refuse("a property without end");
    std::string_view name = std::string_view(in_).substr(at_ + 3, end - at_ - 3);
    bool inverse = in_[at_ + 1] == 'P';
    if (name.starts_with('^')) {
      inverse = !inverse;
      name.remove_prefix(1);
    }
    std::string wanted(name);
    bool category = name.size() <= 2 || name == "Any" || name == "L&";
    for (const auto& [from, to] : kCategories) {
      if (name != from) continue;
      wanted = to;
      category = true;
    }
    out_ += inverse ? "\\P{" : "\\p{";
    if (!category && scripts_only_ && name.find_first_of(":=") == std::string_view::npos) out_ += "sc:";
    out_ += wanted + "}";
    at_ = end + 1;
    return {};
  }

  Status character_class() {
    out_ += in_[at_++];
    if (at_ < in_.size() && in_[at_] == '^') out_ += in_[at_++];
    bool first = true;
    while (at_ < in_.size()) {
      const char c = in_[at_];
      if (c == '\\') {
        LAPILLI_CHECK(escape(true));
      } else if (c == ']' && !first) {
        out_ += in_[at_++];
        return {};
      } else if (c == '[' && at_ + 1 < in_.size() && in_[at_ + 1] == ':') {
        const size_t end = in_.find(":]", at_ + 2);
        if (end == std::string::npos) return refuse("a class without end");
        out_.append(in_, at_, end + 2 - at_);
        at_ = end + 2;
      } else if (c == '[') {
        return refuse("a class within a class, which this version does not know,");
      } else if (c == '&' && at_ + 1 < in_.size() && in_[at_ + 1] == '&') {
        return refuse("an intersection of classes, which this version does not know,");
      } else {
        out_ += in_[at_++];
      }
      first = false;
    }
    return refuse("a class without end");
  }

  const std::string& in_;
  bool scripts_only_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

Result<std::string> translate_pattern(const std::string& pattern, bool scripts_only) {
  return Translator(pattern, scripts_only).run();
}

}  // namespace lapilli
