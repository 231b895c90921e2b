#include "documents/markdown_marks.hpp"

#include <algorithm>
#include <array>

#include "documents/lines.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kLongestMark = 2000;  // bytes
constexpr size_t kMostFormulaLines = 200;

bool is_name_letter(char c) {
  const auto u = static_cast<unsigned char>(c);
  return is_ascii_letter(u) || is_ascii_digit(u) || c == '_' || c == '-';
}

size_t skip_name(std::string_view text, size_t at) {
  while (at < text.size() && is_name_letter(text[at])) ++at;
  return at;
}

std::string_view without_blanks_behind(std::string_view text) {
  while (!text.empty() && is_blank(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

struct Template {
  std::string_view open, close;
  MarkdownMark::Kind kind;
};
// Longer ones first.
constexpr std::array kTemplates = {
    Template{"{{<", ">}}", MarkdownMark::point}, Template{"{{%", "%}}", MarkdownMark::point},
    Template{"{{{", "}}}", MarkdownMark::words}, Template{"{{", "}}", MarkdownMark::words},
    Template{"{%", "%}", MarkdownMark::point},   Template{"{# ", "#}", MarkdownMark::point},
    Template{"{/*", "*/}", MarkdownMark::point}};
constexpr std::array<std::string_view, 5> kContents = {"[toc]", "[[toc]]", "[[_toc_]]", "@[toc]", "{:toc}"};

// True for ":::note", "!!! note "Title"", "=== "Tab"", "[TOC]".
bool is_line_mark(std::string_view line) {
  line = without_blanks_behind(line);
  if (line.starts_with(":::")) return true;
  if (line.size() < 10 && std::find(kContents.begin(), kContents.end(), ascii_lower(line)) != kContents.end())
    return true;
  const std::string_view sign = line.substr(0, 3);
  if (sign != "!!!" && sign != "???" && sign != "===") return false;
  size_t at = line.substr(3, 1) == "+" ? 4 : 3;
  if (line.substr(at, 1) != " ") return false;
  for (; at < line.size() && (line[at] == ' ' || is_name_letter(ascii_lower(line[at]))); ++at) {
    if (ascii_lower(line[at]) != line[at]) return false;
  }
  const bool named = at < line.size() ? line[at] == '"' && line.back() == '"' && line.size() > at + 1 : at > 4;
  return named && (sign != "===" || at < line.size());
}

// Length of "{#id}", "{.class}", "{: .class}", "{width=50%}"; 0 if there is none.
size_t attributes_length(std::string_view here) {
  const size_t end = here.substr(0, kLongestMark).find_first_of("{}\r\n", 1);
  if (end == std::string_view::npos || here[end] != '}') return 0;
  std::string_view inner = here.substr(1, end - 1);
  if (inner.starts_with(':')) inner.remove_prefix(1);
  inner.remove_prefix(std::min(inner.find_first_not_of(' '), inner.size()));
  const bool sign = inner.starts_with('#') || inner.starts_with('.');
  const size_t begin = sign ? 1 : 0, behind = skip_name(inner, begin);
  if (behind == begin || is_ascii_digit(static_cast<unsigned char>(inner[begin]))) return 0;
  return sign || inner.substr(behind, 1) == "=" ? end + 1 : 0;
}

class MarkFinder {
 public:
  MarkFinder(std::string_view bytes, size_t begin, std::span<const Range> code)
      : bytes_(bytes), lines_(bytes, begin), code_(code), at_(begin) {
    next_.fill(0);
  }

  std::vector<MarkdownMark> run() {
    while (lines_.next(line_)) {
      content_ = line_.begin;
      while (content_ < line_.end && (bytes_[content_] == '>' || is_space_at(content_))) ++content_;
      if (at_ <= content_ && content_ < line_.end && !in_code({content_, content_ + 1}) && take_line()) continue;
      read_line();
    }
    return std::move(marks_);
  }

 private:
  [[nodiscard]] bool is_space_at(size_t at) const { return bytes_[at] == ' ' || bytes_[at] == '\t'; }
  [[nodiscard]] bool is_word_at(size_t at) const {
    return at < bytes_.size() && ((bytes_[at] & 0x80) != 0 || !is_sign(static_cast<unsigned char>(bytes_[at])));
  }

  [[nodiscard]] bool in_code(Range range) {
    while (code_at_ < code_.size() && code_[code_at_].end <= range.begin) ++code_at_;
    return code_at_ < code_.size() && code_[code_at_].begin < range.end;
  }

  void add(MarkdownMark::Kind kind, Range range) {
    marks_.push_back({kind, range});
    at_ = range.end;
  }

  // True if the mark takes the whole line.
  bool take_line() {
    const std::string_view content = Range{content_, line_.end}.of(bytes_);
    const bool quoted = Range{line_.begin, content_}.of(bytes_).find('>') != std::string_view::npos;
    if (is_line_mark(content)) return add(MarkdownMark::block, {content_, line_.end}), true;
    if (content.starts_with("$$") && take_formula_lines()) return true;
    const size_t name = content.starts_with("[!") && quoted ? skip_name(content, 2) : 2;
    const std::string_view behind = content.substr(std::min(name + 1, content.size()), 1);
    if (name == 2 || content.substr(name, 1) != "]" || behind == "(" || behind == "[") return false;
    const bool folds = behind == "-" || behind == "+";
    add(MarkdownMark::alert, {content_, content_ + name + (folds ? 2 : 1)});
    return false;
  }

  // Takes "$$" to a line that ends with it, without an empty line in between.
  bool take_formula_lines() {
    LineReader lines(bytes_, line_.end);
    if (Range{content_ + 2, line_.end}.of(bytes_).find("$$") != std::string_view::npos) return false;
    Range line;
    lines.next(line);  // the rest of this one
    for (size_t i = 0; i < kMostFormulaLines && lines.next(line); ++i) {
      const std::string_view text = without_blanks_behind(line.of(bytes_));
      if (text.find_first_not_of(" \t>") == std::string_view::npos) return false;
      const Range whole{content_, line.begin + text.size()};
      if (text.ends_with("$$")) return !in_code(whole) && (add(MarkdownMark::block, whole), true);
    }
    return false;
  }

  void read_line() {
    at_ = std::max(at_, content_);
    while (at_ < line_.end) {
      at_ = std::min(bytes_.find_first_of("\\${", at_), line_.end);
      if (at_ >= line_.end) return;
      const size_t begin = at_;
      if (in_code({begin, begin + 1}) || !take_mark()) at_ = begin + (bytes_[begin] == '\\' ? 2 : 1);
    }
  }

  bool take_mark() {
    if (bytes_[at_] == '$') return take_formula();
    return bytes_[at_] == '{' && (take_template() || take_attributes());
  }

  bool take(MarkdownMark::Kind kind, Range range) {
    if (in_code(range)) return false;
    add(is_alone(range) ? MarkdownMark::block : kind, range);
    return true;
  }

  // True if the range is alone on its lines: such a mark separates.
  [[nodiscard]] bool is_alone(Range range) const {
    if (range.begin != content_) return false;
    const size_t behind = std::min(bytes_.find_first_not_of(" \t", range.end), bytes_.size());
    return behind == bytes_.size() || bytes_[behind] == '\n' || bytes_[behind] == '\r';
  }

  // The next end of a template; each byte is examined once.
  size_t next_of(size_t which, size_t from) {
    if (next_[which] < from) next_[which] = bytes_.find(kTemplates[which].close, from);
    return next_[which];
  }

  bool take_template() {
    for (size_t i = 0; i < kTemplates.size(); ++i) {
      const Template& t = kTemplates[i];
      if (!bytes_.substr(at_).starts_with(t.open)) continue;
      const size_t close = next_of(i, at_ + t.open.size());
      if (close == std::string_view::npos || close - at_ > kLongestMark) continue;
      const Range range{at_, close + t.close.size()};
      const std::string_view text = range.of(bytes_);
      if (text.find("\n\n") == std::string_view::npos && text.find("\n\r\n") == std::string_view::npos)
        return take(t.kind, range);
    }
    return false;
  }

  bool take_attributes() {
    const size_t length = attributes_length(bytes_.substr(at_));
    return length > 0 && take(MarkdownMark::point, {at_, at_ + length});
  }

  bool take_formula() {
    if (at_ > 0 && (is_word_at(at_ - 1) || bytes_[at_ - 1] == '$')) return false;
    const std::string_view line = Range{at_, line_.end}.of(bytes_);
    if (line.starts_with("$`")) return take_code_formula(line);
    const std::string_view sign = line.starts_with("$$") ? "$$" : "$";
    const size_t close = line.find(sign, sign.size());
    if (close == std::string_view::npos || close > kLongestMark || close == sign.size()) return false;
    const Range range{at_, at_ + close + sign.size()};
    const bool formula = is_formula(line.substr(sign.size(), close - sign.size()), sign == "$$");
    return formula && !is_word_at(range.end) && take(MarkdownMark::words, range);
  }

  // GitHub's $`x`$.
  bool take_code_formula(std::string_view line) {
    const size_t close = line.substr(0, kLongestMark).find("`$", 2);
    if (close == std::string_view::npos) return false;
    add(MarkdownMark::words, {at_, at_ + close + 2});
    return true;
  }

  // False for sums of money and variables of a shell: "$5 or 6$", "$HOME and $PATH".
  static bool is_formula(std::string_view text, bool display) {
    const auto blank = [](char c) { return is_blank(static_cast<unsigned char>(c)); };
    if (text.back() == '\\' || text.find("</") != std::string_view::npos) return false;
    if (display) return true;
    const bool money = is_ascii_digit(static_cast<unsigned char>(text[0])) &&
                       text.find(' ') != std::string_view::npos && text.find('\\') == std::string_view::npos;
    return !blank(text.front()) && !blank(text.back()) && !money;
  }

  std::string_view bytes_;
  LineReader lines_;
  std::span<const Range> code_;
  std::vector<MarkdownMark> marks_;
  std::array<size_t, kTemplates.size()> next_{};
  Range line_;
  size_t content_ = 0;  // of the line, behind quote marks
  size_t at_ = 0, code_at_ = 0;
};

}  // namespace

std::vector<MarkdownMark> find_markdown_marks(std::string_view bytes, size_t begin, std::span<const Range> code) {
  return MarkFinder(bytes, begin, code).run();
}

std::string mask_marks(std::string_view bytes, std::span<const MarkdownMark> marks) {
  std::string masked(bytes);
  for (const MarkdownMark& mark : marks) {
    bool begins_line = false;
    for (size_t at = mark.bytes.begin; at < mark.bytes.end; ++at) {
      char& c = masked[at];
      const bool breaks = c == '\n' || c == '\r', blank = is_blank(static_cast<unsigned char>(c));
      const bool stays = blank || c == '|' || (begins_line && c == '>');
      begins_line = breaks || (begins_line && stays);
      if (!stays) c = 'x';
    }
  }
  return masked;
}

}  // namespace lapilli::documents
