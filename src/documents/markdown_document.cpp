// Markdown: a paragraph, heading or table cell is a segment; emphasis and links among its words are marks.
#include <algorithm>
#include <functional>
#include <utility>

#include "documents/character_references.hpp"
#include "documents/kept/marked_parts.hpp"
#include "documents/kinds.hpp"
#include "documents/lines.hpp"
#include "documents/markdown_marks.hpp"
#include "documents/markdown_outline.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kLost = SIZE_MAX;
constexpr uint32_t kFirstHtmlKey = 16;  // keys below are spans

bool is_ascii_sign(char c) { return c > ' ' && c < 0x7f && is_sign(static_cast<unsigned char>(c)); }
bool is_space(char c) { return c == ' ' || c == '\t'; }
bool is_word_byte(char c) {
  return (static_cast<unsigned char>(c) & 0x80) != 0 || !is_sign(static_cast<unsigned char>(c));
}

// Skips front matter at the start of a file, from "---" to "---" or from "+++" to "+++".
size_t skip_front_matter(std::string_view bytes, size_t begin) {
  LineReader lines(bytes, begin);
  Range line;
  if (!lines.next(line) || (line.of(bytes) != "---" && line.of(bytes) != "+++")) return begin;
  const std::string_view fence = line.of(bytes);
  while (lines.next(line)) {
    if (line.of(bytes) == fence || (fence == "---" && line.of(bytes) == "...")) return line.end;
  }
  return begin;
}

// ---- the bytes of markup; the parser reports only its meaning
// -------------------------------------------------

// Lengths of markup at a position; kLost where there is none of that kind.
class MarkupScanner {
 public:
  explicit MarkupScanner(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] size_t run_of(size_t at, char c, size_t most) const {
    size_t end = at;
    while (end < bytes_.size() && bytes_[end] == c && end - at < most) ++end;
    return end - at;
  }

  [[nodiscard]] size_t emphasis(size_t at, size_t length) const {
    const bool stars = run_of(at, '*', length) == length || run_of(at, '_', length) == length;
    return stars ? length : kLost;
  }

  [[nodiscard]] size_t deleted(size_t at) const {
    const size_t length = run_of(at, '~', 2);
    return length > 0 ? length : kLost;
  }

  // The end of "](address "title")", "][name]", "[]" or "]".
  [[nodiscard]] size_t link_end(size_t at, size_t limit) const {
    if (at >= bytes_.size() || bytes_[at] != ']') return kLost;
    const char next = at + 1 < limit ? bytes_[at + 1] : ' ';
    const size_t end = next == '('   ? behind_parenthesis(at + 1, limit)
                       : next == '[' ? behind_name(at + 1, limit)
                                     : kLost;
    return end == kLost ? 1 : end - at;
  }

  // White space around a line end, with the marks that make the next line part of a quote.
  [[nodiscard]] size_t line_break(size_t at) const {
    size_t end = at;
    while (end < bytes_.size() && is_space(bytes_[end])) ++end;
    if (end + 1 < bytes_.size() && bytes_[end] == '\\') ++end;
    if (end >= bytes_.size() || (bytes_[end] != '\n' && bytes_[end] != '\r')) return kLost;
    end += bytes_.substr(end, 2) == "\r\n" ? 2 : 1;
    while (end < bytes_.size() && (is_space(bytes_[end]) || bytes_[end] == '>')) ++end;
    return end - at;
  }

 private:
  [[nodiscard]] size_t behind_name(size_t at, size_t limit) const {
    for (size_t i = at + 1; i < limit; ++i) {
      if (bytes_[i] == '\\')
        ++i;
      else if (bytes_[i] == ']')
        return i + 1;
    }
    return kLost;
  }

  [[nodiscard]] size_t behind_parenthesis(size_t at, size_t limit) const {
    size_t depth = 0;
    for (size_t i = at; i < limit; ++i) {
      const char c = bytes_[i];
      const bool quotes = (c == '"' || c == '\'') && i > at && is_blank(static_cast<unsigned char>(bytes_[i - 1]));
      if (c == '\\')
        ++i;
      else if (quotes || (c == '<' && i == at + 1))
        i = std::min(quoted_end(i, c == '<' ? '>' : c, limit), limit);
      else if (c == '(')
        ++depth;
      else if (c == ')' && --depth == 0)
        return i + 1;
    }
    return kLost;
  }

  [[nodiscard]] size_t quoted_end(size_t at, char quote, size_t limit) const {
    for (size_t i = at + 1; i < limit; ++i) {
      if (bytes_[i] == '\\')
        ++i;
      else if (bytes_[i] == quote)
        return i;
    }
    return limit;
  }

  std::string_view bytes_;
};

// ---- a leaf as passages
// -----------------------------------------------------------------------------------------------

class LeafReader {
 public:
  LeafReader(std::string_view bytes, std::span<const MarkdownMark> marks, const MarkdownLeaf& leaf,
             std::vector<Passage>& passages)
      : bytes_(bytes), marks_(marks), scanner_(bytes), leaf_(leaf), passages_(passages) {}

  void read() {
    find_limits();
    const size_t from = first_event();
    const size_t count = passages_.size();
    for (size_t i = from; i < leaf_.events.size() && at_ != kLost; ++i) take(i);
    // Markup was not where it should be: this leaf stays as it is.
    if (at_ == kLost)
      passages_.resize(count);
    else
      flush();
  }

 private:
  // The first event that belongs to the passage: the markup in front of the first words, except spans that close before
  // them.
  size_t first_event() {
    const auto& events = leaf_.events;
    const auto words =
        std::find_if(events.begin(), events.end(), [](const MarkdownEvent& e) { return !e.bytes.empty(); });
    if (words == events.end()) return events.size();
    at_ = words->bytes.begin;
    auto first = words;
    if (words->kind == MarkdownEvent::words && at_ > 0 && bytes_[at_ - 1] == '\\' && is_ascii_sign(bytes_[at_])) --at_;
    for (; first != events.begin() && std::prev(first)->kind == MarkdownEvent::enter; --first) {
      at_ -= std::min(at_, length_before(std::prev(first)->span));
    }
    const bool opened =
        std::count_if(events.begin(), first, [](const MarkdownEvent& e) { return e.kind == MarkdownEvent::enter; }) !=
        std::count_if(events.begin(), first, [](const MarkdownEvent& e) { return e.kind == MarkdownEvent::leave; });
    if (opened) at_ = kLost;
    return static_cast<size_t>(first - events.begin());
  }

  // Length of the opening markup that ends at at_.
  [[nodiscard]] size_t length_before(Span span) const {
    const auto before = [&](size_t n) { return n <= at_ ? bytes_[at_ - n] : ' '; };
    switch (span) {
      case Span::emphasis: return 1;
      case Span::strong: return 2;
      case Span::deleted: return before(2) == '~' ? 2 : 1;
      case Span::link: return before(1) == '[' || before(1) == '<' ? 1 : 0;
      case Span::image: return 2;
      case Span::code: break;
    }
    size_t length = 0;
    while (length < at_ && before(length + 1) != '`') ++length;
    while (length < at_ && before(length + 1) == '`') ++length;
    return length;
  }

  void take(size_t i) {
    const MarkdownEvent& event = leaf_.events[i];
    switch (event.kind) {
      case MarkdownEvent::enter: enter(event.span); break;
      case MarkdownEvent::leave: leave(event.span, limits_[i]); break;
      case MarkdownEvent::soft_break:
      case MarkdownEvent::hard_break: line_break(event.kind == MarkdownEvent::hard_break); break;
      case MarkdownEvent::null: words({at_, at_ + 1}, " "); break;
      default: ranged(event); break;
    }
  }

  // The markup of each event ends before the next words.
  void find_limits() {
    limits_.assign(leaf_.events.size(), bytes_.size());
    for (size_t i = limits_.size(); i-- > 1;) {
      const Range next = leaf_.events[i].bytes;
      limits_[i - 1] = next.empty() ? limits_[i] : next.begin;
    }
  }

  struct Opened {
    Span span;
    Range bytes;
    std::string words;  // of code and addresses
    bool kept = false;
  };

  [[nodiscard]] bool in_whole() const { return whole_ > 0; }

  size_t enter_length(Span span) const {
    switch (span) {
      case Span::emphasis: return scanner_.emphasis(at_, 1);
      case Span::strong: return scanner_.emphasis(at_, 2);
      case Span::deleted: return scanner_.deleted(at_);
      case Span::code: return scanner_.run_of(at_, '`', SIZE_MAX);
      case Span::link: return at_ < bytes_.size() && (bytes_[at_] == '[' || bytes_[at_] == '<') ? 1 : 0;
      case Span::image: return bytes_.substr(at_, 2) == "![" ? 2 : kLost;
    }
    return kLost;
  }

  bool move(size_t length) {
    at_ = length == kLost ? kLost : at_ + length;
    return at_ != kLost;
  }

  void enter(Span span) {
    const size_t begin = at_;
    if (!move(enter_length(span))) return;
    const bool address = span == Span::link && (at_ == begin || bytes_[begin] == '<');
    const bool kept = span == Span::code || span == Span::image || address;
    if (!kept && !in_whole()) builder_.open({begin, at_}, static_cast<uint32_t>(span));
    opened_.push_back({span, {begin, at_}, {}, kept});
    whole_ += kept ? 1 : 0;
  }

  size_t leave_length(const Opened& opened, size_t limit) const {
    switch (opened.span) {
      case Span::emphasis: return scanner_.emphasis(at_, 1);
      case Span::strong: return scanner_.emphasis(at_, 2);
      case Span::deleted: return scanner_.deleted(at_);
      case Span::code: return code_end(opened.bytes.size());
      case Span::image: return scanner_.link_end(at_, limit);
      case Span::link: break;
    }
    if (!opened.kept) return scanner_.link_end(at_, limit);
    return opened.bytes.empty() ? 0 : at_ < bytes_.size() && bytes_[at_] == '>' ? 1 : kLost;
  }

  // Distance to the end of code that began with so many backticks.
  [[nodiscard]] size_t code_end(size_t ticks) const {
    for (size_t at = at_; (at = bytes_.find('`', at)) != std::string_view::npos;) {
      const size_t run = scanner_.run_of(at, '`', SIZE_MAX);
      at += run;
      if (run == ticks) return at - at_;
    }
    return kLost;
  }

  void leave(Span span, size_t limit) {
    if (opened_.empty() || opened_.back().span != span) return static_cast<void>(at_ = kLost);
    const Opened opened = std::move(opened_.back());
    opened_.pop_back();
    whole_ -= opened.kept ? 1 : 0;
    const size_t begin = at_;
    if (!move(leave_length(opened, limit)) || in_whole()) return;
    if (!opened.kept) return builder_.close({begin, at_}, static_cast<uint32_t>(span), close_as(opened, {begin, at_}));
    builder_.kept({opened.bytes.begin, at_}, span == Span::image ? std::string() : opened.words);
  }

  // "[words]" and "[words][]" refer by their words, which translation changes: they become "[other words][words]".
  [[nodiscard]] std::string close_as(const Opened& opened, Range close) const {
    const std::string_view bytes = close.of(bytes_);
    if (opened.span != Span::link || (bytes != "]" && bytes != "][]")) return {};
    return "][" + std::string(Range{opened.bytes.end, close.begin}.of(bytes_)) + "]";
  }

  void line_break(bool hard) {
    const size_t begin = at_;
    if (!move(scanner_.line_break(at_)) || in_whole()) return;
    if (hard || in_title_)
      flush();
    else
      builder_.line({begin, at_});
    in_title_ = false;
  }

  void ranged(const MarkdownEvent& event) {
    if (event.bytes.empty()) {
      if (!opened_.empty()) opened_.back().words += ' ';
      return;
    }
    if (in_whole()) {
      opened_.back().words += event.bytes.of(bytes_);
      at_ = event.bytes.end;
      return;
    }
    const Range between{at_, event.bytes.begin};
    const bool escaped = between.of(bytes_) == "\\" && event.kind == MarkdownEvent::words;
    at_ = event.bytes.end;
    if (!between.empty() && !escaped && !is_blank_line(between.of(bytes_))) return static_cast<void>(at_ = kLost);
    if (between.begin > event.bytes.begin) return static_cast<void>(at_ = kLost);
    if (event.kind == MarkdownEvent::html) return html(event.bytes);
    if (event.kind == MarkdownEvent::entity) return entity(event.bytes);
    Range rest = event.bytes;
    if (escaped) {
      size_t behind = rest.begin;
      next_character(bytes_, behind);
      words({between.begin, behind}, Range{rest.begin, behind}.of(bytes_));
      rest.begin = behind;
    }
    with_marks(rest);
  }

  void words(Range range, std::string_view decoded) {
    at_ = std::max(at_, range.end);
    builder_.words(range, decoded);
  }

  // True if only blanks precede it in its line.
  [[nodiscard]] bool begins_line(size_t at) const {
    while (at > 0 && (bytes_[at - 1] == ' ' || bytes_[at - 1] == '\t')) --at;
    return at == 0 || bytes_[at - 1] == '\n' || bytes_[at - 1] == '\r';
  }

  // The end of a footnote's mark. At the beginning of a line, a following colon belongs to the mark, which then defines
  // the footnote.
  [[nodiscard]] size_t behind_mark(Range mark, size_t end) const {
    size_t behind = mark.end;
    if (!begins_line(mark.begin) || behind >= end || bytes_[behind] != ':') return behind;
    for (++behind; behind < end && bytes_[behind] == ' ';) ++behind;
    return behind;
  }

  void with_marks(Range range) {
    auto mark = std::partition_point(marks_.begin(), marks_.end(),
                                     [&](const MarkdownMark& m) { return m.bytes.end <= range.begin; });
    for (; mark != marks_.end() && mark->bytes.begin < range.end; ++mark) {
      const Range inside{std::max(mark->bytes.begin, range.begin), std::min(mark->bytes.end, range.end)};
      with_notes({range.begin, inside.begin});
      take_mark(mark->kind, inside);
      range.begin = inside.end;
    }
    with_notes(range);
  }

  void take_mark(MarkdownMark::Kind kind, Range range) {
    if (kind == MarkdownMark::words) return builder_.kept(range, range.of(bytes_));
    if (kind == MarkdownMark::point) return builder_.point(range);
    flush();
    in_title_ = kind == MarkdownMark::alert;
  }

  // "[^1]" and ":smile:" stand beside words and are no words; "[[Page]]" stands for words.
  void with_notes(Range range) {
    const std::string_view text = bytes_.substr(0, range.end);
    for (size_t at = range.begin; (at = text.find_first_of("[:", at)) != std::string_view::npos;) {
      const size_t page = page_end(at, range.end), note = page == at ? note_end(at, range.end) : at;
      const size_t end = std::max(page, note);
      if (end > at) {
        words({range.begin, at}, Range{range.begin, at}.of(bytes_));
        page > at ? builder_.kept({at, end}, Range{at, end}.of(bytes_)) : builder_.point({at, end});
        range.begin = end;
      }
      at = std::max(end, at + 1);
    }
    words(range, range.of(bytes_));
  }

  // The end of the "[[Page]]" that begins at `at`; `at` if none does.
  [[nodiscard]] size_t page_end(size_t at, size_t end) const {
    if (bytes_.substr(at, 2) != "[[") return at;
    const size_t close = std::min(bytes_.find_first_of("[]", at + 2), end);
    return close > at + 2 && close + 2 <= end && bytes_.substr(close, 2) == "]]" ? close + 2 : at;
  }

  [[nodiscard]] size_t note_end(size_t at, size_t end) const {
    const bool foot = bytes_.substr(at, 2) == "[^";
    if (bytes_[at] == '[' && !foot) return at;
    const auto letter = [&](char c) { return is_word_byte(c) || c == '-' || c == '_' || (!foot && c == '+'); };
    const size_t begin = foot ? at + 2 : at + 1;
    size_t close = begin;
    while (close < end && letter(bytes_[close])) ++close;
    if (close == begin || close >= end || bytes_[close] != (foot ? ']' : ':')) return at;
    if (foot) return behind_mark({at, close + 1}, end);
    return is_emoji({at, close + 1}) ? close + 1 : at;
  }

  // False for the minutes of a time, and within a word.
  [[nodiscard]] bool is_emoji(Range range) const {
    const std::string_view name = Range{range.begin + 1, range.end - 1}.of(bytes_);
    const bool within = (range.begin > 0 && is_word_byte(bytes_[range.begin - 1])) ||
                        (range.end < bytes_.size() && is_word_byte(bytes_[range.end]));
    return !within && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_+-") == std::string_view::npos &&
           name.find_first_not_of("0123456789") != std::string_view::npos;
  }

  void entity(Range range) {
    std::string decoded;
    if (decode_reference(range.of(bytes_), decoded) == range.size())
      words(range, decoded);
    else
      builder_.kept(range, range.of(bytes_));
  }

  // A tag that closes another one pairs up with it, as other markup does.
  void html(Range range) {
    const std::string_view tag = range.of(bytes_);
    const bool closes = tag.starts_with("</");
    const size_t begin = closes ? 2 : 1;
    const size_t end = std::min(tag.find_first_of(" \t\r\n/>", begin), tag.size());
    const std::string name = ascii_lower(tag.substr(std::min(begin, tag.size()), end - begin));
    if (is_html_block(name)) return flush();
    const bool alone = tag.ends_with("/>") || name == "img" || name == "wbr" || name == "input" || name.empty() ||
                       !is_ascii_letter(static_cast<unsigned char>(name[0])) || !tag.ends_with('>');
    if (alone) return builder_.point(range);
    const auto known = std::find(names_.begin(), names_.end(), name);
    const uint32_t key = kFirstHtmlKey + static_cast<uint32_t>(known - names_.begin());
    if (known == names_.end()) names_.push_back(name);
    closes ? builder_.close(range, key) : builder_.open(range, key);
  }

  void flush() {
    Passage passage;
    passage.in_table = leaf_.in_table;
    passage.in_heading = leaf_.in_heading;
    if (builder_.finish(passage.parts)) passages_.push_back(std::move(passage));
  }

  std::string_view bytes_;
  std::span<const MarkdownMark> marks_;
  MarkupScanner scanner_;
  const MarkdownLeaf& leaf_;
  std::vector<Passage>& passages_;
  PartBuilder builder_;
  std::vector<Opened> opened_;
  std::vector<size_t> limits_;
  std::vector<std::string> names_;  // of HTML tags in this leaf
  size_t whole_ = 0;                // open tags that are kept as a whole
  bool in_title_ = false;           // of an alert, to the end of its line
  size_t at_ = 0;                   // end of what was read; kLost if markup was not found
};

// ---- a document as leaves
// -----------------------------------------------------------------------------------------------

// Ranges of code, which contain no marks.
std::vector<Range> code_of(const std::vector<MarkdownLeaf>& leaves) {
  std::vector<Range> code;
  for (const MarkdownLeaf& leaf : leaves) {
    bool in_code = false;
    for (const MarkdownEvent& e : leaf.events) {
      if (e.kind == MarkdownEvent::enter || e.kind == MarkdownEvent::leave)
        in_code = e.kind == MarkdownEvent::enter && e.span == Span::code;
      else if ((in_code || leaf.verbatim) && !e.bytes.empty())
        code.push_back(e.bytes);
    }
  }
  return code;
}

struct Outline {
  std::vector<MarkdownLeaf> leaves;
  std::vector<MarkdownMark> marks;
};

// The parser sees the marks of extensions as words, so that nothing in them is markup.
Result<Outline> read_outline(std::string_view bytes, size_t begin) {
  Outline outline;
  begin = skip_front_matter(bytes, begin);
  LAPILLI_TRY(outline.leaves, outline_markdown(bytes, begin));
  outline.marks = find_markdown_marks(bytes, begin, code_of(outline.leaves));
  if (outline.marks.empty()) return outline;
  LAPILLI_TRY(outline.leaves, outline_markdown(mask_marks(bytes, outline.marks), begin));
  return outline;
}

// ---- writing
// ----------------------------------------------------------------------------------------------------------

// The position of the sign of "1." or "1)", if a list item may begin there.
size_t list_number_sign(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_ascii_digit(static_cast<unsigned char>(text[end]))) ++end;
  return end > at && end < text.size() && (text[end] == '.' || text[end] == ')') ? end : kLost;
}

bool begins_block(char c) { return std::string_view("#>+-=|:").find(c) != std::string_view::npos; }

bool needs_escape(std::string_view text, size_t i, size_t end, const Passage& passage) {
  const char c = text[i];
  const char next = i + 1 < text.size() ? text[i + 1] : ' ';
  const char before = i > 0 ? text[i - 1] : ' ';
  std::string decoded;
  switch (c) {
    case '*':
    case '`':
    case '~':
    case '[':
    case ']': return true;
    case '_': return !(is_word_byte(before) && is_word_byte(next) && i + 1 < end);
    case '\\': return i + 1 == end || is_ascii_sign(next);
    case '<': return is_ascii_letter(static_cast<unsigned char>(next)) || next == '/' || next == '!' || next == '?';
    case '&': return decode_reference(text.substr(i), decoded) > 0;
    case '|': return passage.in_table;
    case '#': return passage.in_heading;
    case '!': return i + 1 == end && end < text.size() && !is_blank(static_cast<unsigned char>(next));
    default: return false;
  }
}

void encode_markdown(std::string& out, std::string_view text, Range range, bool begins_line, const Passage& passage) {
  const size_t number = begins_line ? list_number_sign(text, range.begin) : kLost;
  for (size_t i = range.begin; i < range.end; ++i) {
    const bool at_begin = begins_line && ((i == range.begin && begins_block(text[i])) || i == number);
    if (at_begin || needs_escape(text, i, range.end, passage)) out += '\\';
    out += text[i];
  }
}

// ---- reading it again
// -------------------------------------------------------------------------------------------------

// Everything in a leaf except words: spans and the spans around them, code, HTML. The order of neighbours does not
// count.
std::vector<uint64_t> markup_of(std::string_view bytes, const MarkdownLeaf& leaf) {
  const auto number = [](std::string_view text) { return static_cast<uint64_t>(std::hash<std::string_view>()(text)); };
  std::vector<uint64_t> markup, around{leaf.path};
  for (const MarkdownEvent& e : leaf.events) {
    const uint64_t outer = around.back();
    if (e.kind == MarkdownEvent::enter) {
      around.push_back(within(within(outer, static_cast<uint64_t>(e.span)), number(e.target)));
      markup.push_back(around.back());
    } else if (e.kind == MarkdownEvent::leave) {
      if (around.size() > 1) around.pop_back();  // md4c leaves some spans that it never entered
    } else if (e.kind == MarkdownEvent::html || e.kind == MarkdownEvent::hard_break || leaf.verbatim) {
      markup.push_back(within(within(outer, number(e.bytes.of(bytes))), static_cast<uint64_t>(e.kind)));
    } else if (!e.target.empty()) {
      markup.push_back(within(outer, number(e.target)));
    }
  }
  std::sort(markup.begin(), markup.end());
  return markup;
}

// Marks leaves whose markup differs, up to the first with another block; that one and the leaf before it are marked as
// well.
std::vector<bool> differing_leaves(std::string_view bytes, const std::vector<MarkdownLeaf>& leaves,
                                   std::string_view out, const std::vector<MarkdownLeaf>& written) {
  std::vector<bool> differs(leaves.size(), false);
  for (size_t i = 0; i < leaves.size(); ++i) {
    const bool same_block = i < written.size() && leaves[i].path == written[i].path;
    differs[i] = !same_block || markup_of(bytes, leaves[i]) != markup_of(out, written[i]);
    if (same_block) continue;
    if (i > 0) differs[i - 1] = true;
    break;
  }
  if (written.size() > leaves.size() && !leaves.empty()) differs.back() = true;
  return differs;
}

Range bytes_of(const MarkdownLeaf& leaf) {
  Range range{SIZE_MAX, 0};
  for (const MarkdownEvent& e : leaf.events) {
    if (e.bytes.empty()) continue;
    range.begin = std::min(range.begin, e.bytes.begin);
    range.end = std::max(range.end, e.bytes.end);
  }
  return range;
}

}  // namespace

const Style kMarkdownStyle = {encode_markdown};

bool have_markdown() { return have_markdown_parser(); }

std::vector<size_t> changed_markup(std::string_view bytes, const std::vector<Passage>& passages, std::string_view out,
                                   size_t begin) {
  const auto read = read_outline(bytes, begin), written = read_outline(out, begin);
  std::vector<size_t> changed;
  if (!read || !written) return changed;
  const std::vector<MarkdownLeaf>& leaves = read->leaves;
  const std::vector<bool> differs = differing_leaves(bytes, leaves, out, written->leaves);
  size_t next = 0;
  for (size_t i = 0; i < differs.size(); ++i) {
    const Range range = bytes_of(leaves[i]);
    if (range.empty()) continue;
    while (next < passages.size() && passages[next].source().end <= range.begin) ++next;
    for (size_t p = next; differs[i] && p < passages.size() && passages[p].source().begin < range.end; ++p)
      changed.push_back(p);
  }
  const bool any = std::find(differs.begin(), differs.end(), true) != differs.end();
  for (size_t p = 0; any && changed.empty() && p < passages.size(); ++p) changed.push_back(p);
  return changed;
}

Result<std::vector<Passage>> find_markdown_passages(std::string_view bytes, size_t begin) {
  LAPILLI_TRY(const Outline outline, read_outline(bytes, begin));
  std::vector<Passage> passages;
  for (const MarkdownLeaf& leaf : outline.leaves) {
    if (!leaf.verbatim) LeafReader(bytes, outline.marks, leaf, passages).read();
  }
  leave_marked_parts(bytes, passages);
  return passages;
}

}  // namespace lapilli::documents
