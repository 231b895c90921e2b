#include "documents/markup/rst_inline.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "documents/markup/markup.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kLongestReference = 300;  // bytes of a reference
constexpr uint32_t kEmphasis = 1, kStrong = 2, kLink = 3;

bool is_name_byte(char c) {
  return is_ascii_letter(static_cast<unsigned char>(c)) || is_ascii_digit(static_cast<unsigned char>(c)) ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}
bool blank(char c) { return is_blank(static_cast<unsigned char>(c)); }

// True if inline markup may begin behind this text.
bool may_open_behind(std::string_view text) {
  if (text.empty() || blank(text.back())) return true;
  if (std::string_view("'\"([{<-/:").find(text.back()) != std::string_view::npos) return true;
  size_t at = text.size();
  const char32_t c = previous_character(text, at);
  return c >= 0x80 && is_sign(c);
}

// True if inline markup may end in front of this text.
bool may_close_before(std::string_view text) {
  if (text.empty() || blank(text.front())) return true;
  if (std::string_view("'\")]}>-/\\:.,;!?").find(text.front()) != std::string_view::npos) return true;
  size_t at = 0;
  const char32_t c = next_character(text, at);
  return c >= 0x80 && is_sign(c);
}

class InlineReader {
 public:
  InlineReader(std::string_view bytes, Range range, const RstReferences& references, PartBuilder& builder,
               std::vector<Markup>& markup)
      : bytes_(bytes),
        range_(range),
        references_(references),
        builder_(builder),
        markup_(markup),
        at_(range.begin),
        run_(range.begin) {}

  void read() {
    while (at_ < range_.end) {
      if (!take()) ++at_;
    }
    end_run(range_.end);
  }

 private:
  // ---- helpers ----
  [[nodiscard]] std::string_view rest(size_t at) const { return Range{at, range_.end}.of(bytes_); }
  [[nodiscard]] std::string_view behind() const { return Range{range_.begin, at_}.of(bytes_); }

  void end_run(size_t end) {
    if (run_ < end) builder_.words({run_, end}, Range{run_, end}.of(bytes_));
    run_ = end;
  }
  void mark(size_t at, std::string_view what) { markup_.push_back({at, number_of(what)}); }
  bool move_to(size_t end) {
    run_ = at_ = end;
    return true;
  }
  bool kept(size_t end, std::string_view text) {
    end_run(at_);
    mark(at_, Range{at_, end}.of(bytes_));
    builder_.kept({at_, end}, text);
    return move_to(end);
  }

  // Words in which backslashes escape.
  void words(Range range) {
    size_t from = range.begin;
    for (size_t i = range.begin; i < range.end; ++i) {
      if (bytes_[i] != '\\' || i + 1 >= range.end) continue;
      builder_.words({from, i}, Range{from, i}.of(bytes_));
      from = escape(i, range.end);
      i = from - 1;
    }
    builder_.words({from, range.end}, Range{from, range.end}.of(bytes_));
  }
  // A backslash hides a blank, and is none itself.
  size_t escape(size_t at, size_t end) {
    size_t next = at + 1;
    next_character(bytes_, next);
    next = std::min(next, end);
    builder_.words({at, next}, blank(bytes_[at + 1]) ? std::string_view() : Range{at + 1, next}.of(bytes_));
    return next;
  }

  // The position of an end-string from `from` on; none if there is none in the text. What is sought in vain once is
  // not sought again.
  std::optional<size_t> find_end(std::string_view end, size_t from, bool& lost) {
    if (lost) return std::nullopt;
    const bool literal = end == "``";
    for (size_t at = bytes_.find(end, from); at < range_.end; at = bytes_.find(end, at + 1)) {
      const bool escaped = !literal && bytes_[at - 1] == '\\' && !(at > 1 && bytes_[at - 2] == '\\');
      if (at > from && !blank(bytes_[at - 1]) && !escaped && closes_at(end, at)) return at;
    }
    lost = true;
    return std::nullopt;
  }
  [[nodiscard]] bool closes_at(std::string_view end, size_t at) const {
    if (end == "`") return true;  // a role or an underscore may follow
    if (end == "*" && rest(at).starts_with("**") && bytes_[at - 1] != '*') return false;
    return may_close_before(rest(at + end.size())) || end == "|";
  }

  // ---- one step ----
  bool take() {
    switch (bytes_[at_]) {
      case '\\': return take_escape();
      case '*': return opens(rest(at_).starts_with("**") ? 2 : 1) && emphasis();
      case '`': return backquote(at_, "");
      case '|': return opens(1) && substitution();
      case ':': return role();
      case '_': return reference();
      case '[': return footnote();
      default: return false;
    }
  }

  [[nodiscard]] bool opens(size_t length) const {
    if (!may_open_behind(behind())) return false;
    const std::string_view next = rest(at_ + length);
    if (next.empty() || blank(next[0])) return false;
    constexpr std::string_view kOpen = "'\"([{<", kClose = "'\")]}>";
    const size_t quote = at_ > range_.begin ? kOpen.find(bytes_[at_ - 1]) : std::string_view::npos;
    return quote == std::string_view::npos || next[0] != kClose[quote];
  }

  bool take_escape() {
    if (at_ + 1 >= range_.end) return false;
    end_run(at_);
    return move_to(escape(at_, range_.end));
  }

  bool emphasis() {
    const bool strong = rest(at_).starts_with("**");
    const std::string_view sign = strong ? "**" : "*";
    const auto end = find_end(sign, at_ + sign.size(), strong ? no_strong_ : no_emphasis_);
    if (!end) return skip(sign.size());
    end_run(at_);
    pair({at_, at_ + sign.size()}, {*end, *end + sign.size()}, sign, strong ? kStrong : kEmphasis, "");
    return move_to(*end + sign.size());
  }
  bool skip(size_t length) {
    at_ += length;
    return true;
  }

  void pair(Range open, Range close, std::string_view what, uint32_t key, std::string close_as) {
    mark(open.begin, what);
    mark(close.begin, std::string(what) + "/");
    builder_.open(open, key);
    words({open.end, close.begin});
    builder_.close(close, key, std::move(close_as));
  }

  bool substitution() {
    const auto end = find_end("|", at_ + 1, no_substitution_);
    if (!end || *end - at_ > kLongestReference) return false;
    size_t behind = *end + 1;
    while (behind < range_.end && behind < *end + 3 && bytes_[behind] == '_') ++behind;
    return kept(behind, Range{at_ + 1, *end}.of(bytes_));
  }

  // ":name:" in front of a backquote.
  bool role() {
    size_t end = at_ + 1;
    while (end < range_.end && end - at_ < 64 &&
           (is_name_byte(bytes_[end]) || std::string_view("-_.+:").find(bytes_[end]) != std::string_view::npos))
      ++end;
    if (end >= range_.end || end < at_ + 3 || bytes_[end] != '`' || bytes_[end - 1] != ':') return false;
    if (!may_open_behind(behind()) || rest(end).starts_with("``")) return false;
    return backquote(end, Range{at_ + 1, end - 1}.of(bytes_));
  }

  // Everything that begins with a backquote, at `at`; a role may precede it from at_ on.
  bool backquote(size_t at, std::string_view role) {
    if (role.empty() && !opens(rest(at).starts_with("``") ? 2 : 1)) return skip(rest(at).starts_with("``") ? 2 : 1);
    if (rest(at).starts_with("``")) return literal();
    const auto end = find_end("`", at + 1, no_backquote_);
    if (!end) return false;
    return role.empty() ? link({at + 1, *end}) : with_role({at + 1, *end}, role);
  }

  bool literal() {
    const auto end = find_end("``", at_ + 2, no_literal_);
    if (!end) return skip(2);
    return kept(*end + 2, Range{at_ + 2, *end}.of(bytes_));
  }

  // The words in front of " <target>", whose position it is; the end if there is no target.
  [[nodiscard]] size_t target_begin(Range text) const {
    if (!text.of(bytes_).ends_with('>')) return text.end;
    const size_t open = text.of(bytes_).rfind('<');
    if (open == std::string_view::npos || open == 0) return text.end;
    size_t at = text.begin + open;
    if (!blank(bytes_[at - 1])) return text.end;
    while (at > text.begin && blank(bytes_[at - 1])) --at;
    return at == text.begin ? text.end : at;
  }

  // `text`, `text`_, `text <target>`_
  bool link(Range text) {
    size_t behind = text.end + 1;
    while (behind < range_.end && behind < text.end + 3 && bytes_[behind] == '_') ++behind;
    const size_t underscores = behind - text.end - 1, target = target_begin(text);
    const std::string_view words = Range{text.begin, target}.of(bytes_);
    const bool named = target < text.end, suffix = rest(behind).starts_with(':');
    if (underscores == 0 || suffix || (underscores == 2 && !named)) return kept(role_end(behind), words);
    const bool defines = named && underscores == 1 && references_.contains(words);
    const bool odd = words.find_first_of("<>\\") != std::string_view::npos || words.size() > kLongestReference;
    if (defines || (!named && odd)) return kept(behind, words);
    const std::string to = named ? std::string(Range{target, behind}.of(bytes_)) : " <" + rst_name(words) + "_>`_";
    end_run(at_);
    pair({at_, text.begin}, {target, behind}, "`", kLink, named ? "" : to);
    markup_.push_back({text.begin, number_of(rst_name(to))});
    return move_to(behind);
  }

  // The end of a role behind the text: `text`:role:
  [[nodiscard]] size_t role_end(size_t at) const {
    if (!rest(at).starts_with(':')) return at;
    const size_t close = bytes_.find(':', at + 1);
    const bool name =
        close < range_.end && close - at < 64 && close > at + 1 &&
        std::all_of(bytes_.begin() + static_cast<ptrdiff_t>(at) + 1, bytes_.begin() + static_cast<ptrdiff_t>(close),
                    [](char c) { return is_name_byte(c) || c == '-' || c == '_'; });
    return name ? close + 1 : at;
  }

  bool with_role(Range text, std::string_view role) {
    static constexpr std::array<std::string_view, 4> kTexts = {"emphasis", "strong", "sup", "sub"};
    static constexpr std::array<std::string_view, 4> kTargets = {"ref", "doc", "download", "numref"};
    const size_t target = target_begin(text), behind = text.end + 1;
    const bool plain = std::find(kTexts.begin(), kTexts.end(), role) != kTexts.end();
    const bool named = target < text.end && std::find(kTargets.begin(), kTargets.end(), role) != kTargets.end();
    if (!plain && !named) return kept(behind, Range{text.begin, target}.of(bytes_));
    end_run(at_);
    const size_t close = named ? target : text.end;
    pair({at_, text.begin}, {close, behind}, std::string(role) + std::string(Range{close, behind}.of(bytes_)), kLink,
         "");
    return move_to(behind);
  }

  // "name_" and "name__", and "_`target`".
  bool reference() {
    if (rest(at_).starts_with("_`") && may_open_behind(behind())) {
      const auto end = find_end("`", at_ + 2, no_backquote_);
      return end && kept(*end + 1, Range{at_ + 2, *end}.of(bytes_));
    }
    size_t name = at_;
    while (name > run_ && at_ - name < kLongestReference && is_simple(name - 1)) --name;
    const size_t end = at_ + (rest(at_).starts_with("__") ? 2 : 1);
    const bool opens = may_open_behind(Range{range_.begin, name}.of(bytes_));
    if (name == at_ || !is_name_byte(bytes_[at_ - 1]) || !opens || !may_close_before(rest(end))) return false;
    const size_t underscore = at_;
    at_ = name;
    return kept(end, Range{name, underscore}.of(bytes_));
  }
  [[nodiscard]] bool is_simple(size_t at) const {
    const char c = bytes_[at];
    if (is_name_byte(c)) return true;
    return std::string_view("-_.+:").find(c) != std::string_view::npos && at > run_ && is_name_byte(bytes_[at - 1]);
  }

  // "[1]_", "[#a]_", "[CIT2002]_"
  bool footnote() {
    size_t end = at_ + 1;
    while (end < range_.end && end - at_ < 64 && !blank(bytes_[end]) && bytes_[end] != ']') ++end;
    if (end == at_ + 1 || !rest(end).starts_with("]_")) return false;
    end_run(at_);
    mark(at_, Range{at_, end + 2}.of(bytes_));
    builder_.point({at_, end + 2});
    return move_to(end + 2);
  }

  std::string_view bytes_;
  Range range_;
  const RstReferences& references_;
  PartBuilder& builder_;
  std::vector<Markup>& markup_;
  size_t at_, run_;
  bool no_strong_ = false, no_emphasis_ = false, no_literal_ = false, no_backquote_ = false, no_substitution_ = false;
};

// ---- writing ----

// True for the beginning of a list, of a field or of another block.
bool looks_like_block(std::string_view text) {
  if (text.empty()) return false;
  if (std::string_view("-+*:>|.=~^#_").find(text[0]) != std::string_view::npos) return true;
  if (text.starts_with("\u2022") || text.starts_with("\u2023") || text.starts_with("\u2043")) return true;
  const size_t begin = text[0] == '(' ? 1 : 0;
  size_t at = begin;
  for (const std::string_view signs : {"0123456789", "ivxlcdm", "IVXLCDM"})
    if (at == begin) at = std::min(text.find_first_not_of(signs, begin), text.size());
  if (at == begin && at < text.size() && (text[at] == '#' || is_name_byte(text[at]))) ++at;
  const bool enumerator = at > begin && at < text.size() && (text[at] == '.' || text[at] == ')') &&
                          (at + 1 == text.size() || blank(text[at + 1]));
  const bool only_signs = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x80 && is_sign(static_cast<unsigned char>(c));
  });
  return enumerator || only_signs;
}

bool needs_backslash(std::string_view text, size_t i) {
  const char c = text[i];
  if (std::string_view("\\`*|").find(c) != std::string_view::npos) return true;
  if (c == '_')
    return (i > 0 && is_name_byte(text[i - 1])) ? i + 1 >= text.size() || !is_name_byte(text[i + 1]) : false;
  return c == ':' && i + 2 == text.size() && text[i + 1] == ':';
}

}  // namespace

std::string rst_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (!blank(c))
      name += ascii_lower(c);
    else if (!name.empty() && name.back() != ' ')
      name += ' ';
  }
  if (name.ends_with(' ')) name.pop_back();
  return name;
}

RstReferences::RstReferences(std::string_view bytes) {
  for (size_t at = bytes.find('_'); at < bytes.size(); at = bytes.find('_', at + 1)) {
    if (at == 0) continue;
    if (bytes[at - 1] == '`')
      backquoted(bytes, at - 1);
    else if (is_name_byte(bytes[at - 1]))
      word(bytes, at);
  }
}

void RstReferences::backquoted(std::string_view bytes, size_t close) {
  const size_t from = close - std::min(close, kLongestReference);
  const size_t open = bytes.substr(from, close - from).rfind('`');
  if (open == std::string_view::npos) return;
  const std::string_view text = bytes.substr(from + open + 1, close - from - open - 1);
  if (!text.ends_with('>')) names_.insert(number_of(rst_name(text)));
  if (text.ends_with("_>") && text.rfind('<') != std::string_view::npos) {
    const size_t alias = text.rfind('<') + 1;
    names_.insert(number_of(rst_name(text.substr(alias, text.size() - alias - 2))));
  }
}

void RstReferences::word(std::string_view bytes, size_t underscore) {
  size_t name = underscore;
  const auto simple = [](char c) {
    return is_name_byte(c) || std::string_view("-_.+:").find(c) != std::string_view::npos;
  };
  while (name > 0 && underscore - name < kLongestReference && simple(bytes[name - 1])) --name;
  if (may_close_before(bytes.substr(underscore + 1)))
    names_.insert(number_of(rst_name(bytes.substr(name, underscore - name))));
}

bool RstReferences::contains(std::string_view text) const { return names_.contains(number_of(rst_name(text))); }

void read_rst_inline(std::string_view bytes, Range range, const RstReferences& references, PartBuilder& builder,
                     std::vector<Markup>& markup) {
  InlineReader(bytes, range, references, builder, markup).read();
}

void encode_rst(std::string& out, std::string_view text, Range range, bool begins_line, const Passage&) {
  for (size_t i = range.begin; i < range.end; ++i) {
    const bool block = begins_line && i == range.begin && looks_like_block(text.substr(i));
    if (block && is_name_byte(text[i]) && static_cast<unsigned char>(text[i]) < 0x80)
      out += '\\';
    else if (block || needs_backslash(text, i))
      out += '\\';
    out += text[i];
  }
}

// "\ " is no space, but lets markup begin and end within a word.
void join_rst(std::string& out, std::string_view next, Side side) {
  const bool before = side == Side::before_markup;
  const bool apart = before ? next.empty() || blank(next[0]) : out.empty() || blank(out.back());
  const bool touches = !apart && (before ? !may_open_behind(out) : !may_close_before(next));
  if (touches) out += "\\ ";
}

}  // namespace lapilli::documents
