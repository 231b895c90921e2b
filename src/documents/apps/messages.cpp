#include "documents/apps/messages.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/placeholders.hpp"
#include "documents/apps/icu.hpp"
#include "documents/character_references.hpp"
#include "documents/message_tags.hpp"
#include "documents/plurals.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kLongestMark = 1000;  // bytes of words that stay

bool keeps_words(const MessageTag& tag, std::string_view text) {
  constexpr std::array<std::string_view, 6> kKeptTags = {"code", "kbd", "samp", "var", "pre", "xliff:g"};
  const std::string_view bytes = tag.range.of(text);
  return std::find(kKeptTags.begin(), kKeptTags.end(), tag.name) != kKeptTags.end() ||
         bytes.find("translate=\"no\"") != kNone || bytes.find("notranslate") != kNone;
}

size_t reference_length(std::string_view text, size_t at, std::string& means) {
  const std::string_view here = text.substr(at, 40);
  const size_t length = decode_reference(here, means);
  return length > 0 && here[length - 1] == ';' ? length : 0;
}

// End of Chrome's "$NAME$", "$1", "$$" at `at`; 0 if there is none.
size_t dollar_end(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (is_tag_name_byte(text[end]) || text[end] == '@')) ++end;
  if (end < text.size() && text[end] == '$') return end + 1;
  const bool digit = at + 1 < text.size() && is_ascii_digit(static_cast<unsigned char>(text[at + 1]));
  return digit ? at + 2 : 0;
}

// End of Apple's "%#@name@", "%1$#@name@" at `at`; 0 if there is none.
size_t substitution_end(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (is_ascii_digit(static_cast<unsigned char>(text[end])) || text[end] == '$')) ++end;
  if (text.substr(end, 2) != "#@") return 0;
  end += 2;
  while (end < text.size() && is_tag_name_byte(text[end])) ++end;
  return end < text.size() && text[end] == '@' ? end + 1 : 0;
}

// A line that begins small continues a sentence.
bool continues(std::string_view text, size_t at) {
  if (at >= text.size()) return false;
  size_t end = at;
  const char32_t c = next_character(text, end);
  return c < 0x530 && has_letter(text.substr(at, end - at)) && !is_capital(c);
}

// "%d/%m/%Y": nothing but what a program replaces.
bool is_time_format(std::string_view text) {
  bool letters = false;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%') {
      while (at + 1 < text.size() && std::string_view("-0^#_EO").find(text[at + 1]) != kNone) ++at;
      ++at;
    } else {
      letters |= has_letter(text.substr(at, 1)) || (text[at] & 0x80) != 0;
    }
  }
  return !letters;
}

// Reads one piece of running text into passages.
class PieceReader {
 public:
  PieceReader(const WrittenText& text, const MessageRules& rules, std::vector<Passage>& out)
      : text_(text), all_(text.text()), rules_(rules), out_(out), escapes_(rules.escapes) {
    if (rules.html && all_.find('<') != kNone) closed_ = closed_names(all_);
  }

  void read(const IcuPiece& piece, uint32_t escapes) {
    escapes_ = rules_.escapes | escapes;
    piece_ = &piece;
    words_ = at_ = piece.text.begin;
    if (!is_time_format(piece.text.of(all_))) read_items();
    kept_ = 0;
  }

 private:
  [[nodiscard]] size_t end() const { return piece_->text.end; }

  void read_items() {
    const size_t first = out_.size();
    while (at_ < end()) {
      const size_t begin = at_;
      if (!read_item()) at_ = std::max(at_, begin + 1);
    }
    words_to(end());
    flush();
    if (!html_ || rules_.xml) return;
    const uint32_t html = kEscapeHtml | (ampersand_ ? kPlainAmpersand : 0u);
    for (size_t i = first; i < out_.size(); ++i) out_[i].escapes |= html;
  }

  // True if there was markup, behind which it goes on.
  bool read_item() {
    if (kept_ < piece_->kept.size() && piece_->kept[kept_].begin == at_) return keep(piece_->kept[kept_++]);
    switch (all_[at_]) {
      case '<': return rules_.html && read_tag();
      case '&': return rules_.html && read_reference();
      case '$': return read_dollar();
      case '%': return read_substitution();
      case '\n': return read_break(at_ + 1);
      case '\t': return read_tab();
      default: return false;
    }
  }

  void words_to(size_t to) {
    if (words_ < to) builder_.words(text_, {words_, to});
    words_ = to;
  }
  bool go_on(size_t behind) {
    words_ = at_ = behind;
    return true;
  }

  bool keep(Range kept) {
    words_to(kept.begin);
    const std::string_view bytes = kept.of(all_);
    if (bytes.starts_with('\''))
      builder_.words(text_.source(kept), unquoted(bytes));
    else
      builder_.kept(text_.source(kept), bytes);
    return go_on(kept.end);
  }

  // The meaning of ICU's '' and '{'.
  static std::string unquoted(std::string_view bytes) {
    std::string means;
    const std::string_view inner = bytes.size() > 2 ? bytes.substr(1, bytes.size() - 2) : "'";
    for (size_t i = 0; i < inner.size(); ++i) {
      means += inner[i];
      if (inner.substr(i, 2) == "''") ++i;
    }
    return means;
  }

  bool read_dollar() {
    const size_t nested = nested_message_end(all_, at_);
    const size_t behind = nested > 0 ? nested : rules_.dollars ? dollar_end(all_, at_) : 0;
    return behind > 0 && behind <= end() && keep({at_, behind});
  }

  bool read_substitution() {
    const size_t behind = substitution_end(all_, at_);
    return behind > 0 && behind <= end() && keep({at_, behind});
  }

  bool read_reference() {
    std::string means;
    const size_t length = reference_length(all_, at_, means);
    if (length == 0 || at_ + length > end()) return ampersand_ = true, false;
    html_ = true;
    words_to(at_);
    builder_.words(text_.source({at_, at_ + length}), means);
    return go_on(at_ + length);
  }

  bool read_comment() {
    if (comment_end_ < at_ + 4) comment_end_ = std::min(all_.find("-->", at_ + 4), all_.size());
    const size_t close = comment_end_;
    if (close + 3 > end()) return false;
    words_to(at_);
    builder_.point(text_.source({at_, close + 3}));
    return go_on(close + 3);
  }

  bool read_tag() {
    if (all_.substr(at_, 4) == "<!--") return read_comment();
    const MessageTag tag = message_tag_at(all_, at_);
    if (!is_known_tag(tag, closed_) || tag.range.end > end()) return false;
    html_ = true;
    if (is_html_block(tag.name)) {
      words_to(at_);
      flush();
      return go_on(tag.range.end);
    }
    if (!tag.single && !tag.closes && keeps_words(tag, all_) && keep_element(tag)) return true;
    words_to(at_);
    const Range source = text_.source(tag.range);
    if (tag.single || is_void_tag(tag.name))
      builder_.point(source);
    else if (tag.closes)
      builder_.close(source, key_of(tag.name));
    else
      builder_.open(source, key_of(tag.name));
    return go_on(tag.range.end);
  }

  // Elements with others in them are not kept as a whole.
  bool keep_element(const MessageTag& tag) {
    const size_t close = all_.substr(tag.range.end, kLongestMark).find('<');
    if (close == kNone) return false;
    const MessageTag closing = message_tag_at(all_, tag.range.end + close);
    if (!closing.closes || closing.name != tag.name || closing.range.end > end()) return false;
    words_to(at_);
    builder_.kept(text_.source({at_, closing.range.end}), all_.substr(tag.range.end, close));
    while (kept_ < piece_->kept.size() && piece_->kept[kept_].begin < closing.range.end) ++kept_;
    return go_on(closing.range.end);
  }

  uint32_t key_of(const std::string& name) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) return static_cast<uint32_t>(found - names_.begin());
    if (names_.size() == kMostNames) return kMostNames;
    names_.push_back(name);
    return static_cast<uint32_t>(names_.size() - 1);
  }

  bool read_tab() {
    words_to(at_);
    flush();
    return go_on(at_ + 1);
  }

  // Lines of a text are apart, unless the next one continues a sentence.
  bool read_break(size_t behind) {
    while (behind < end() && is_blank(static_cast<unsigned char>(all_[behind]))) ++behind;
    const Range blanks{at_, behind};
    const std::string_view bytes = blanks.of(all_);
    words_to(at_);
    if (std::count(bytes.begin(), bytes.end(), '\n') == 1 && continues(all_.substr(0, end()), behind))
      builder_.line(text_.source(blanks));
    else
      flush();
    return go_on(behind);
  }

  void flush() {
    Passage passage;
    passage.escapes = escapes_;
    if (builder_.finish(passage.parts)) out_.push_back(std::move(passage));
  }

  static constexpr uint32_t kMostNames = 64;
  const WrittenText& text_;
  std::string_view all_;
  const MessageRules& rules_;
  std::vector<Passage>& out_;
  uint32_t escapes_;
  const IcuPiece* piece_ = nullptr;
  size_t at_ = 0, words_ = 0, kept_ = 0;
  size_t comment_end_ = 0;  // the next one
  std::set<std::string> closed_;
  std::vector<std::string> names_;
  bool html_ = false, ampersand_ = false;
  PartBuilder builder_;
};

// In MessageFormat a text with an argument has its apostrophes doubled, others have not.
bool has_argument(std::string_view text) {
  for (size_t at = text.find('{'); at != kNone; at = text.find('{', at + 1))
    if (at + 1 < text.size() && is_ascii_digit(static_cast<unsigned char>(text[at + 1]))) return true;
  return false;
}

}  // namespace

uint32_t icu_escapes(std::string_view text, bool java) {
  const bool doubled = java || text.find("''") != kNone;
  return kEscapeIcu | (doubled ? uint32_t{kDoubledQuotes} : 0u);
}

void Messages::add(const WrittenText& text, const MessageRules& rules) {
  const std::string& all = text.text();
  if (is_icu_message(all)) return add_icu(text, rules);
  IcuPiece whole{{0, all.size()}, {}, false};
  uint32_t escapes = 0;
  if (rules.java && has_argument(all)) {
    IcuMessage message = read_icu_message(all);
    if (!message.error.empty()) return notes.add(text.source(whole.text).begin, message.error + ": the text stays");
    if (message.pieces.size() == 1) whole = std::move(message.pieces[0]);
    escapes = kDoubledQuotes;
  }
  PieceReader(text, rules, found_.passages).read(whole, escapes);
}

void Messages::add_icu(const WrittenText& text, const MessageRules& rules) {
  const std::string& all = text.text();
  const IcuMessage message = read_icu_message(all);
  const size_t begin = text.source({0, all.size()}).begin;
  if (!message.error.empty()) return notes.add(begin, "an ICU message is broken, " + message.error + ": it stays");
  PieceReader reader(text, rules, found_.passages);
  for (const IcuPiece& piece : message.pieces)
    reader.read(piece, icu_escapes(all, rules.java) | (piece.in_plural ? uint32_t{kEscapeHash} : 0u));
  for (const IcuPlural& plural : message.plurals) {
    const std::string lacking = lacking_categories(rules.target_language, plural.categories);
    if (!lacking.empty())
      notes.add(begin, "the plural of " + std::string(plural.name) + " lacks what " +
                           std::string(rules.target_language) + " has, too: " + lacking);
  }
}

std::string message_words(std::string_view text, Range range, uint32_t escapes) {
  std::string out;
  for (size_t i = range.begin; i < range.end; ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '{';  // markup may follow
    const bool before_syntax = std::string_view("{}#'|<").find(i + 1 == range.end ? '{' : next) != kNone;
    if ((escapes & kEscapeHtml) && (c == '<' || c == '>'))
      out += c == '<' ? "&lt;" : "&gt;";
    else if ((escapes & kEscapeHtml) && c == '&' && !(escapes & kPlainAmpersand))
      out += "&amp;";
    else if (c == '\'' && (escapes & kDoubledQuotes))
      out += "''";
    else if (c == '\'' && (escapes & kEscapeIcu) && before_syntax)
      out += "\u2019";  // reads the same where two are one and where they are not
    else if (((escapes & (kEscapeIcu | kDoubledQuotes)) && (c == '{' || c == '}')) ||
             ((escapes & kEscapeHash) && c == '#'))
      out += std::string("'") + c + "'";
    else
      out += c;
  }
  return out;
}

}  // namespace lapilli::documents
