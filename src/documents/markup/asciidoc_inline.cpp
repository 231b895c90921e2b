#include "documents/markup/asciidoc_inline.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "documents/character_references.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kLongestTarget = 2000;  // bytes of a macro's name and address
constexpr size_t kDeepestQuote = 16;
constexpr std::string_view kQuotes = "*_`#^~+";

bool is_word_at(std::string_view text, size_t at) {
  if (at >= text.size()) return false;
  const char32_t c = next_character(text, at);
  return c == '_' || !is_sign(c);
}
bool is_word_before(std::string_view text, size_t at) {
  if (at == 0 || at > text.size()) return false;
  const char32_t c = previous_character(text, at);
  return c == '_' || !is_sign(c);
}
bool blank_byte(char c) { return is_blank(static_cast<unsigned char>(c)); }

bool named_among(std::string_view names, std::string_view name) {
  return !name.empty() && names.find(" " + std::string(name) + " ") != std::string_view::npos;
}

class AsciidocInline {
 public:
  AsciidocInline(std::string_view bytes, Range range, TextFlow& flow, Found& found, size_t depth = 0)
      : bytes_(bytes), text_(range.of(bytes)), begin_(range.begin), flow_(flow), found_(found), depth_(depth) {}

  void read() {
    while (at_ < text_.size()) {
      if (!take()) ++at_;
    }
    end_run();
  }

 private:
  // ---- positions are those of text_ ----
  [[nodiscard]] Range in_bytes(size_t begin, size_t end) const { return {begin_ + begin, begin_ + end}; }
  [[nodiscard]] std::string_view rest(size_t at) const { return text_.substr(std::min(at, text_.size())); }
  PartBuilder& builder() { return flow_.builder(); }

  void end_run() {
    if (run_ < at_) builder().words(in_bytes(run_, at_), text_.substr(run_, at_ - run_));
    run_ = at_;
  }
  void mark(size_t at, std::string_view what) { found_.markup.push_back({begin_ + at, number_of(what)}); }
  bool move_to(size_t end) {
    run_ = at_ = end;
    return true;
  }
  bool kept(size_t end, std::string_view shown) {
    end_run();
    mark(at_, text_.substr(at_, end - at_));
    builder().kept(in_bytes(at_, end), shown);
    return move_to(end);
  }
  bool point(size_t end) { return kept(end, ""); }

  // The position of a string; what is sought in vain once is not sought again.
  std::optional<size_t> find(std::string_view what, size_t from, size_t& lost) const {
    if (lost <= from) return std::nullopt;
    const size_t at = text_.find(what, from);
    if (at != std::string_view::npos) return at;
    lost = from;
    return std::nullopt;
  }

  // ---- one step ----
  bool take() {
    switch (text_[at_]) {
      case '*':
      case '_':
      case '`':
      case '#':
      case '^':
      case '~': return quote();
      case '+': return passthrough();
      case '\\': return escape();
      case '{': return attribute();
      case '<': return reference();
      case '[': return bracket();
      case '(': return index_term();
      case '&': return character();
      case ':': return macro();
      case '/': return comment_or_nothing();
      default: return false;
    }
  }
  static bool comment_or_nothing() { return false; }

  // A backslash keeps the sign behind it from being markup.
  bool escape() {
    if (at_ + 1 >= text_.size() || std::string_view("*_`#^~+{<[(&:\\").find(text_[at_ + 1]) == std::string_view::npos)
      return false;
    end_run();
    builder().words(in_bytes(at_, at_ + 2), text_.substr(at_ + 1, 1));
    return move_to(at_ + 2);
  }

  bool character() {
    std::string meaning;
    const size_t length = decode_reference(rest(at_).substr(0, 40), meaning);
    if (length == 0) return false;
    end_run();
    builder().words(in_bytes(at_, at_ + length), meaning);
    return move_to(at_ + length);
  }

  // {name}
  bool attribute() {
    size_t end = at_ + 1;
    while (end < text_.size() && end - at_ < 64 &&
           (is_word_at(text_, end) || std::string_view("-_:").find(text_[end]) != std::string_view::npos))
      ++end;
    if (end == at_ + 1 || end >= text_.size() || text_[end] != '}') return false;
    const std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
    if (name == "nbsp" || name == "sp" || name == "empty") {
      end_run();
      builder().words(in_bytes(at_, end + 1), name == "nbsp" ? "\u00a0" : name == "sp" ? " " : "");
      return move_to(end + 1);
    }
    return kept(end + 1, name);
  }

  // *strong*, _emphasis_, `code`, #marked#, ^up^, ~down~, and the doubled ones within words.
  bool quote() {
    const char sign = text_[at_];
    const std::string two(2, sign);
    const bool doubled = sign != '^' && sign != '~' && rest(at_).starts_with(two);
    if (doubled) {
      const auto end = find(two, at_ + 3, lost_of(sign, true));
      if (end) return quoted(*end, 2);
    }
    const std::optional<size_t> end = sign == '^' || sign == '~' ? tight_end(sign) : constrained_end(sign);
    if (!end) return false;
    return quoted(*end, 1);
  }

  size_t& lost_of(char sign, bool doubled) { return lost_[kQuotes.find(sign) * 2 + (doubled ? 1 : 0)]; }

  // The end of ^up^: no blank is inside.
  [[nodiscard]] std::optional<size_t> tight_end(char sign) const {
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != sign && !blank_byte(text_[end])) ++end;
    if (end >= text_.size() || text_[end] != sign || end == at_ + 1) return std::nullopt;
    return end;
  }

  std::optional<size_t> constrained_end(char sign) {
    const bool opens =
        !is_word_before(text_, at_) && at_ + 1 < text_.size() && !blank_byte(text_[at_ + 1]) &&
        (at_ == 0 || std::string_view(";:}&").find(text_[at_ - 1]) == std::string_view::npos || text_[at_ - 1] == ':');
    size_t& lost = lost_of(sign, false);
    if (!opens || lost <= at_) return std::nullopt;
    for (size_t at = text_.find(sign, at_ + 2); at < text_.size(); at = text_.find(sign, at + 1)) {
      if (!blank_byte(text_[at - 1]) && text_[at - 1] != '\\' && !is_word_at(text_, at + 1)) return at;
    }
    lost = at_;
    return std::nullopt;
  }

  bool quoted(size_t end, size_t length) {
    const char sign = text_[at_];
    const std::string_view inside = text_.substr(at_ + length, end - at_ - length);
    const bool code = sign == '`';
    if (code || depth_ >= kDeepestQuote) return kept(end + length, inside);
    end_run();
    const std::string what(length, sign);
    mark(at_, what);
    builder().open(in_bytes(at_, at_ + length), static_cast<uint32_t>(sign));
    AsciidocInline(bytes_, in_bytes(at_ + length, end), flow_, found_, depth_ + 1).read();
    mark(end, what + "/");
    builder().close(in_bytes(end, end + length), static_cast<uint32_t>(sign));
    return move_to(end + length);
  }

  // +as it is+, ++as it is++, +++as it is+++
  bool passthrough() {
    const size_t length = std::min<size_t>(std::min(rest(at_).find_first_not_of('+'), rest(at_).size()), 3);
    if (length == 1) {
      const auto end = constrained_end('+');
      return end && kept(*end + 1, text_.substr(at_ + 1, *end - at_ - 1));
    }
    const auto end = find(std::string(length, '+'), at_ + length, lost_[length == 2 ? 13 : 14]);
    return end && kept(*end + length, text_.substr(at_ + length, *end - at_ - length));
  }

  // <<id,words>>
  bool reference() {
    if (!rest(at_).starts_with("<<")) return false;
    const auto end = find(">>", at_ + 2, lost_[15]);
    if (!end || *end - at_ > kLongestTarget) return false;
    const size_t comma = text_.substr(0, *end).find(',', at_);
    if (comma == std::string_view::npos) return kept(*end + 2, text_.substr(at_ + 2, *end - at_ - 2));
    return linked({at_, comma + 1}, {*end, *end + 2});
  }

  // A pair around words, both of which belong to a link.
  bool linked(Range open, Range close) {
    if (depth_ >= kDeepestQuote) return kept(close.end, "");
    end_run();
    mark(open.begin, open.of(text_));
    mark(close.begin, "link/");
    builder().open(in_bytes(open.begin, open.end), 1);
    AsciidocInline(bytes_, in_bytes(open.end, close.begin), flow_, found_, depth_ + 1).read();
    builder().close(in_bytes(close.begin, close.end), 1);
    return move_to(close.end);
  }

  // [[anchor]] and [.role]# in front of a quote.
  bool bracket() {
    const size_t close = rest(at_).substr(0, 200).find(']');
    if (close == std::string_view::npos) return false;
    const size_t end = at_ + close + 1;
    if (rest(at_).starts_with("[[") && rest(end).starts_with("]")) return point(end + 1);
    const bool role = close > 1 && (text_[at_ + 1] == '.' || is_word_at(text_, at_ + 1)) && end < text_.size() &&
                      std::string_view("#*_`").find(text_[end]) != std::string_view::npos;
    return role && point(end);
  }

  // ((term)) shows, (((a, b))) does not.
  bool index_term() {
    if (!rest(at_).starts_with("((")) return false;
    const bool hidden = rest(at_).starts_with("(((");
    const auto end = find(hidden ? ")))" : "))", at_ + 2, lost_[hidden ? 16 : 17]);
    if (!end || *end - at_ > kLongestTarget) return false;
    if (hidden) return point(*end + 3);
    return linked({at_, at_ + 2}, {*end, *end + 2});
  }

  // "name:target[words]": at the colon.
  bool macro() {
    size_t name = at_;
    while (name > run_ && at_ - name < 16 && is_ascii_letter(static_cast<unsigned char>(text_[name - 1]))) --name;
    if (text_.substr(run_, at_ - run_).ends_with("footnote")) name = at_ - 8;  // also directly behind a word
    const std::string_view called = text_.substr(name, at_ - name);
    static constexpr std::string_view kLinks = " http https ftp irc mailto link xref ";
    static constexpr std::string_view kKept =
        " kbd btn menu stem latexmath asciimath pass image icon indexterm2 anchor "
        "indexterm footnoteref ";
    const bool links = named_among(kLinks, called), footnote = called == "footnote";
    if (!links && !footnote && !named_among(kKept, called)) return false;
    const size_t open = target_end();
    if (open >= text_.size() || text_[open] != '[') return false;
    const auto close = bracket_end(open);
    if (!close) return false;
    at_ = name;
    if (footnote) return footnote_text(open, *close);
    if (links && *close > open + 1 && text_[open + 1] != '"' && plain_label(open, *close))
      return linked({name, open + 1}, {*close, *close + 1});
    const bool hidden = called == "anchor" || called == "indexterm" || called == "footnoteref" || called == "image";
    return kept(*close + 1, hidden ? std::string_view() : text_.substr(open + 1, *close - open - 1));
  }
  [[nodiscard]] size_t target_end() const {
    size_t open = at_ + 1;
    while (open < text_.size() && open - at_ < kLongestTarget && text_[open] != '[' && !blank_byte(text_[open])) ++open;
    return open;
  }
  // The words of a link, without attributes behind a comma ("text,window=_blank").
  [[nodiscard]] bool plain_label(size_t open, size_t close) const {
    const std::string_view label = text_.substr(open + 1, close - open - 1);
    return label.find('=') == std::string_view::npos && !label.ends_with('^');
  }
  [[nodiscard]] std::optional<size_t> bracket_end(size_t open) const {
    for (size_t at = open + 1; at < text_.size() && at - open < kLongestTarget; ++at) {
      if (text_[at] == '\\')
        ++at;
      else if (text_[at] == ']')
        return at;
    }
    return std::nullopt;
  }

  // footnote:[words]: a text of its own within the sentence.
  bool footnote_text(size_t open, size_t close) {
    end_run();
    mark(at_, text_.substr(at_, open + 1 - at_));
    mark(close, "footnote/");
    flow_.divide();
    TextFlow own(found_);
    AsciidocInline(bytes_, in_bytes(open + 1, close), own, found_, depth_ + 1).read();
    own.finish();
    return move_to(close + 1);
  }

  std::string_view bytes_, text_;
  size_t begin_;
  TextFlow& flow_;
  Found& found_;
  size_t depth_;
  size_t at_ = 0, run_ = 0;
  std::array<size_t, 18> lost_ = [] {
    std::array<size_t, 18> none{};
    none.fill(SIZE_MAX);
    return none;
  }();
};

// True for what begins a block at the beginning of a line.
bool begins_block(std::string_view text) {
  const size_t signs = std::min(text.find_first_not_of("*.-=/#"), text.size());
  const bool marker =
      signs > 0 && (signs == text.size() || blank_byte(text[signs]) || text[0] == '/' || text[0] == '.');
  if (marker || text.starts_with("|===") || text.starts_with('[') || text.starts_with(':')) return true;
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const size_t letter = text.find_first_of(".)");
  return (digits > 0 && text.substr(digits).starts_with(". ")) ||
         (letter == 1 && text.substr(letter).starts_with(". "));
}

// A sign that would be markup, as the number of its character.
bool needs_reference(std::string_view text, size_t i, bool in_table) {
  const char c = text[i];
  const auto blank_or_end = [&](size_t at) { return at >= text.size() || blank_byte(text[at]); };
  if (std::string_view("*_`#^~+").find(c) != std::string_view::npos) {
    const bool within_word = c == '_' && is_word_before(text, i) && is_word_at(text, i + 1);
    const bool alone = blank_or_end(i + 1) && (i == 0 || blank_byte(text[i - 1]));
    return c == '+' ? (i + 1 == text.size() || !alone) : !within_word && !alone;
  }
  if (c == '[' || c == ']' || c == '\\') return true;
  if (c == '{' || c == '}' || c == '<' || c == '&') return !blank_or_end(i + 1);
  if (c == '(' || c == ')') return i + 1 < text.size() && text[i + 1] == c;
  return (c == '|' && in_table) || (c == ':' && i + 1 < text.size() && text[i + 1] == ':');
}

void add_number(std::string& out, char c) { out += "&#" + std::to_string(static_cast<unsigned char>(c)) + ";"; }

}  // namespace

void read_asciidoc_inline(std::string_view bytes, Range range, TextFlow& flow, Found& found) {
  AsciidocInline(bytes, range, flow, found).read();
}

void encode_asciidoc(std::string& out, std::string_view text, Range range, bool begins_line, const Passage& passage) {
  for (size_t i = range.begin; i < range.end; ++i) {
    const bool block = begins_line && i == range.begin && begins_block(text.substr(i));
    if (block && is_ascii_digit(static_cast<unsigned char>(text[i])))
      out += "{empty}", out += text[i];
    else if (block && is_ascii_letter(static_cast<unsigned char>(text[i])))
      out += "{empty}", out += text[i];
    else if (block || needs_reference(text, i, passage.in_table))
      add_number(out, text[i]);
    else
      out += text[i];
  }
}

// Between letters markup is doubled; an empty attribute divides them for what is single.
void join_asciidoc(std::string& out, std::string_view next, Side side) {
  constexpr std::string_view kSingle = "*_#`";
  if (side == Side::before_markup) {
    const bool single =
        !next.empty() && kSingle.find(next[0]) != std::string_view::npos && next.substr(1, 1) != next.substr(0, 1);
    if (single && is_word_before(out, out.size())) out += "{empty}";
  } else if (is_word_at(next, 0) && !out.empty() && kSingle.find(out.back()) != std::string_view::npos) {
    out += "{empty}";
  }
}

}  // namespace lapilli::documents
