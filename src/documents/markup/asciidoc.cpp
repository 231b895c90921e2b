// AsciiDoc by lines: titles, paragraphs, lists, admonitions and the cells of tables. Attributes, listings, literal
// text, passthroughs, mathematics and macros of their own line stay.
#include <algorithm>
#include <optional>
#include <utility>

#include "documents/lines.hpp"
#include "documents/markup/asciidoc_inline.hpp"
#include "documents/markup/markup.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kShortestFence = 4;

struct FileLine {
  size_t begin = 0, end = 0;  // without blanks at the end
  [[nodiscard]] Range range() const { return {begin, end}; }
};

std::vector<FileLine> file_lines(std::string_view bytes, size_t begin) {
  std::vector<FileLine> lines;
  LineReader reader(bytes, begin);
  for (Range range; reader.next(range);) {
    while (range.end > range.begin && is_blank(static_cast<unsigned char>(bytes[range.end - 1]))) --range.end;
    lines.push_back({range.begin, range.end});
  }
  return lines;
}

size_t characters_of(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool of_one_sign(std::string_view line, char sign, size_t least) {
  return line.size() >= least && line.find_first_not_of(sign) == std::string_view::npos;
}

// Blocks between two equal lines whose content stays.
bool is_left_fence(std::string_view line) {
  return of_one_sign(line, '-', kShortestFence) || of_one_sign(line, '.', kShortestFence) ||
         of_one_sign(line, '+', kShortestFence) || of_one_sign(line, '/', kShortestFence) || line.starts_with("```");
}
// Blocks between two equal lines whose content is text.
bool is_text_fence(std::string_view line) {
  return of_one_sign(line, '=', kShortestFence) || of_one_sign(line, '*', kShortestFence) ||
         of_one_sign(line, '_', kShortestFence) || line == "--";
}

bool any_of_words(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return text.starts_with(w); });
}

bool is_name_sign(char c) {
  return is_ascii_letter(static_cast<unsigned char>(c)) || is_ascii_digit(static_cast<unsigned char>(c)) || c == '-' ||
         c == '_';
}

// ":name: value"
bool is_attribute_entry(std::string_view line) {
  if (line.size() < 3 || line[0] != ':') return false;
  size_t at = line[1] == '!' ? 2 : 1;
  const size_t name = at;
  while (at < line.size() && is_name_sign(line[at])) ++at;
  if (at < line.size() && line[at] == '!') ++at;
  return at > name && at < line.size() && line[at] == ':' && (at + 1 == line.size() || line[at + 1] == ' ');
}

// "image::a.png[alt]", "include::x[]", "ifdef::x[]"
bool is_block_macro(std::string_view line) {
  size_t at = 0;
  while (at < line.size() && is_name_sign(line[at])) ++at;
  return at > 0 && line.substr(at).starts_with("::") && line.ends_with(']') && at + 2 < line.size() &&
         line[at + 2] != ' ';
}

// The length of a list's marker and the blanks behind it; 0 if there is none.
size_t list_marker_length(std::string_view line) {
  const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  size_t at = begin;
  const auto run = [&](char sign) {
    while (at < line.size() && line[at] == sign) ++at;
  };
  if (at == line.size()) return 0;
  if (line[at] == '*' || line[at] == '.' || line[at] == '-') {
    run(line[at]);
    if (line[begin] == '-' && at - begin > 1) return 0;
  } else if (line[at] == '<') {
    at = line.find('>', at);
    if (at == std::string_view::npos || at - begin > 4) return 0;
    ++at;
  } else {
    while (at < line.size() && is_ascii_digit(static_cast<unsigned char>(line[at]))) ++at;
    if (at == begin && is_ascii_letter(static_cast<unsigned char>(line[at]))) ++at;
    if (at == begin || at >= line.size() || line[at] != '.') return 0;
    ++at;
  }
  if (at >= line.size() || (line[at] != ' ' && line[at] != '\t')) return 0;
  at = std::min(line.find_first_not_of(" \t", at), line.size());
  const std::string_view box = line.substr(at, 4);
  return box == "[x] " || box == "[ ] " || box == "[*] " ? at + 4 : at;
}

// The position of "::" behind a term; none if the line has no term.
std::optional<size_t> term_end(std::string_view line) {
  for (size_t at = line.find("::"); at < line.size(); at = line.find("::", at + 2)) {
    size_t end = at;
    while (end < line.size() && line[end] == ':') ++end;
    if (at > 0 && end - at <= 4 && (end == line.size() || line[end] == ' ')) return at;
    at = end > at + 2 ? end - 2 : at;
  }
  return std::nullopt;
}

constexpr std::string_view kAdmonitions[] = {"NOTE: ", "TIP: ", "IMPORTANT: ", "WARNING: ", "CAUTION: "};

class AsciidocReader {
 public:
  AsciidocReader(std::string_view bytes, size_t begin) : bytes_(bytes), lines_(file_lines(bytes, begin)) {}

  Found read() {
    size_t i = header();
    while (i < lines_.size()) i = block(i);
    left_.tell(found_.notes, "block", "blocks");
    switches_.apply(found_);
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::string_view text(size_t i) const { return lines_[i].range().of(bytes_); }
  [[nodiscard]] bool blank(size_t i) const { return i >= lines_.size() || is_blank_line(text(i)); }
  void mark(size_t at, std::string_view what) { found_.markup.push_back({at, number_of(what)}); }
  // Lines that stay.
  size_t left(size_t i, size_t end) {
    mark(lines_[i].begin, Range{lines_[i].begin, lines_[end - 1].end}.of(bytes_));
    style_.clear();
    return end;
  }
  [[nodiscard]] size_t blank_end(size_t i) const {
    while (!blank(i)) ++i;
    return i;
  }

  void paragraph(Range range, bool in_table = false) {
    if (range.empty()) return;
    TextFlow flow(found_);
    flow.passage().in_table = in_table;
    read_asciidoc_inline(bytes_, range, flow, found_);
    flow.finish();
  }

  // ---- the header: a title, an author, a revision, attributes ----
  size_t header() {
    size_t i = 0;
    while (i < lines_.size() && (blank(i) || text(i).starts_with("//") || is_attribute_entry(text(i)))) i = aside(i);
    if (i >= lines_.size() || !text(i).starts_with("= ")) return i;
    heading(i);
    for (++i; !blank(i); ++i) {
      if (!text(i).starts_with("//")) mark(lines_[i].begin, text(i));
    }
    return i;
  }
  size_t aside(size_t i) {
    if (text(i).starts_with("//")) switches_.comment(bytes_, lines_[i].range());
    if (of_one_sign(text(i), '/', kShortestFence)) return fenced(i);
    return i + 1;
  }

  // ---- blocks ----
  size_t block(size_t i) {
    if (blank(i)) return i + 1;
    const std::string_view line = text(i);
    if (is_left_fence(line)) return fenced(i);
    if (line.starts_with("//")) {
      mark(lines_[i].begin, line);
      return aside(i);
    }
    if (is_text_fence(line)) return text_fence(i);
    if (is_attribute_entry(line) || is_block_macro(line) || line == "+" || line == "<<<" || line == "'''" ||
        line == "---" || line == "***")
      return left(i, i + 1);
    if (line.starts_with('[') && line.ends_with(']')) return block_attributes(i);
    if (const size_t bar = table_fence(line)) return table(i, bar);
    if (const size_t end = section(i)) return end;
    if (line.starts_with('.') && line.size() > 1 && line[1] != '.' && line[1] != ' ') return title(i);
    return styled(i);
  }

  // [source,c], [[id]], [quote, Somebody]
  size_t block_attributes(size_t i) {
    const std::string_view line = text(i);
    mark(lines_[i].begin, line);
    const bool names = std::string_view("[#.%").find(line[1]) != std::string_view::npos;
    if (!names || style_.empty()) style_ = line.substr(1, line.size() - 2);
    return i + 1;
  }
  [[nodiscard]] bool keeps_text() const {
    return any_of_words(style_, {"source", "listing", "literal", "stem", "latexmath", "asciimath", "pass", "verse",
                                 "plantuml", "mermaid", "ditaa", "graphviz", "comment", "subs"});
  }

  size_t fenced(size_t i) {
    const std::string_view fence = text(i);
    const std::string_view closing = fence.starts_with("```") ? fence.substr(0, 3) : fence;
    size_t end = i + 1;
    while (end < lines_.size() && text(end) != closing) ++end;
    if (fence[0] == '/') switches_.comment(bytes_, {lines_[i].begin, lines_[std::min(end, lines_.size() - 1)].end});
    return left(i, std::min(end + 1, lines_.size()));
  }

  // The fence is a line of its own; its content is read as blocks, unless its style says otherwise.
  size_t text_fence(size_t i) {
    if (keeps_text()) {
      if (style_.starts_with("verse")) left_.count("verse");
      return fenced(i);
    }
    mark(lines_[i].begin, text(i));
    style_.clear();
    return i + 1;
  }

  static size_t title_signs(std::string_view line) {
    const char sign = line[0];
    if (sign != '=' && sign != '#') return 0;
    const size_t signs = std::min(line.find_first_not_of(sign), line.size());
    return signs <= 6 && signs < line.size() && line[signs] == ' ' ? signs : 0;
  }
  void heading(size_t i) {
    const size_t signs = title_signs(text(i));
    mark(lines_[i].begin, text(i).substr(0, signs));
    Range words{lines_[i].begin + signs, lines_[i].end};
    const std::string closing = " " + std::string(text(i).substr(0, signs));
    if (words.of(bytes_).ends_with(closing)) words.end -= closing.size();
    paragraph(words);
  }

  // The end of a section's title; 0 if there is none. The older form has a line below it.
  size_t section(size_t i) {
    if (title_signs(text(i)) > 0) {
      heading(i);
      style_.clear();
      return i + 1;
    }
    if (blank(i + 1) || std::string_view("=-~^+").find(text(i + 1)[0]) == std::string_view::npos) return 0;
    const size_t length = text(i + 1).size(), words = characters_of(text(i));
    const bool underlined = of_one_sign(text(i + 1), text(i + 1)[0], 2) && length <= words + 1 && words <= length + 1;
    if (!underlined) return 0;
    mark(lines_[i + 1].begin, "underline" + std::string(1, text(i + 1)[0]));
    TextFlow flow(found_);
    flow.passage().adornments = {lines_[i + 1].range()};
    read_asciidoc_inline(bytes_, lines_[i].range(), flow, found_);
    flow.finish();
    return i + 2;
  }

  size_t title(size_t i) {
    mark(lines_[i].begin, ".title");
    paragraph({lines_[i].begin + 1, lines_[i].end});
    return i + 1;
  }

  // A paragraph, a list's item, or literal text by its indent or its style.
  size_t styled(size_t i) {
    const std::string_view line = text(i);
    if (keeps_text()) {
      if (style_.starts_with("verse")) left_.count("verse");
      return left(i, blank_end(i));
    }
    style_.clear();
    if (const size_t marker = list_marker_length(line)) return item(i, marker);
    if (const auto term = term_end(line)) return definition(i, *term);
    if (line[0] == ' ' || line[0] == '\t') return left(i, blank_end(i));
    for (const std::string_view admonition : kAdmonitions) {
      if (!line.starts_with(admonition)) continue;
      mark(lines_[i].begin, admonition);
      return running_text(i, admonition.size());
    }
    mark(lines_[i].begin, "paragraph");
    return running_text(i, 0);
  }

  size_t item(size_t i, size_t marker) {
    const size_t begin = text(i).find_first_not_of(" \t");
    mark(lines_[i].begin + begin, text(i).substr(begin, marker - begin));
    return running_text(i, marker);
  }

  size_t definition(size_t i, size_t term) {
    mark(lines_[i].begin, "term");
    const size_t first = text(i).find_first_not_of(" \t");
    paragraph({lines_[i].begin + first, lines_[i].begin + term});
    size_t words = std::min(text(i).find_first_not_of(':', term), text(i).size());
    words = std::min(text(i).find_first_not_of(' ', words), text(i).size());
    mark(lines_[i].begin + term, "::");
    if (words < text(i).size()) return running_text(i, words);
    // The definition may be on the next line, with an indent.
    const bool next = !blank(i + 1) && list_marker_length(text(i + 1)) == 0 && !begins_other(i + 1);
    return next ? running_text(i + 1, std::min(text(i + 1).find_first_not_of(" \t"), text(i + 1).size())) : i + 1;
  }

  // True for lines that end a paragraph in front of them.
  [[nodiscard]] bool begins_other(size_t i) const {
    const std::string_view line = text(i);
    return is_left_fence(line) || is_text_fence(line) || table_fence(line) > 0 || line == "+" ||
           (line.starts_with('[') && line.ends_with(']') && line.find(' ') == std::string_view::npos) ||
           list_marker_length(line) > 0 || term_end(line).has_value() || is_block_macro(line);
  }

  // Text from `first` bytes into line i on. A hard break ends a text; a comment line stays between its parts.
  size_t running_text(size_t i, size_t first) {
    TextFlow flow(found_);
    size_t begin = lines_[i].begin + first, last = lines_[i].end;
    const auto add = [&] {
      if (begin < last) read_asciidoc_inline(bytes_, {begin, last}, flow, found_);
    };
    for (;; ++i) {
      last = lines_[i].end;
      const bool breaks = text(i).ends_with(" +");
      const size_t next = i + 1;
      if (breaks) {
        last -= 2;
        add();
        mark(last, "break");
        flow.finish();
      }
      if (blank(next) || begins_other(next)) break;
      if (breaks) begin = lines_[next].begin;
      if (!text(next).starts_with("//")) continue;
      if (!breaks) add();
      flow.divide();
      i = comment_lines(next);
      if (i >= lines_.size() || blank(i) || begins_other(i)) return flow.finish(), i;
      begin = lines_[i].begin;
      --i;
      last = begin;
    }
    if (!text(i).ends_with(" +")) add();
    flow.finish();
    return i + 1;
  }
  size_t comment_lines(size_t i) {
    for (; !blank(i) && text(i).starts_with("//") && !is_left_fence(text(i)); ++i) {
      switches_.comment(bytes_, lines_[i].range());
      mark(lines_[i].begin, text(i));
    }
    return i;
  }

  // ---- tables ----
  // 1 for a table of cells behind |, 2 for another one; 0 if this is none.
  static size_t table_fence(std::string_view line) {
    if (line.size() < 4 || line.substr(1) != "===") return 0;
    return line[0] == '|' ? 1 : std::string_view(",:!").find(line[0]) != std::string_view::npos ? 2 : 0;
  }

  size_t table(size_t i, size_t bar) {
    size_t end = i + 1;
    while (end < lines_.size() && text(end) != text(i)) ++end;
    const bool other =
        bar == 2 || style_.find("format=") != std::string::npos || style_.find("separator=") != std::string::npos;
    const std::string columns = columns_style();
    style_.clear();
    if (other) {
      left_.count("tables of other separators");
      return left(i, std::min(end + 1, lines_.size()));
    }
    mark(lines_[i].begin, text(i));
    if (end > i + 1 && columns.empty())
      cells({lines_[i + 1].begin, lines_[end - 1].end});
    else if (end > i + 1)
      left_.count(columns), left(i + 1, end);
    return std::min(end + 1, lines_.size());
  }
  // Columns of literal text or of documents are told by their style.
  [[nodiscard]] std::string columns_style() const {
    const size_t at = style_.find("cols=\"");
    if (at == std::string::npos) return "";
    const std::string cols = style_.substr(at + 6, style_.find('"', at + 6) - at - 6);
    const bool odd = cols.find_first_of("al") != std::string::npos;
    return odd ? "tables with columns of other blocks" : "";
  }

  // Where a cell's own settings begin in front of the bar at `bar`: "2+", ".3+", "a", "^.>s".
  [[nodiscard]] size_t settings_begin(size_t bar, size_t begin) const {
    size_t at = bar;
    while (at > begin && bar - at < 12 &&
           std::string_view("0123456789.+*<^>adehlmsv").find(bytes_[at - 1]) != std::string_view::npos)
      --at;
    const bool apart = at == begin || is_blank(static_cast<unsigned char>(bytes_[at - 1]));
    return apart ? at : bar;
  }

  void cells(Range table) {
    size_t bar = next_bar(table.begin, table.end), begin = table.begin;
    while (bar < table.end) {
      const size_t settings = settings_begin(bar, begin);
      const std::string kind(Range{settings, bar}.of(bytes_));
      begin = bar + 1;
      bar = next_bar(begin, table.end);
      const size_t end = bar < table.end ? settings_begin(bar, begin) : table.end;
      mark(settings, kind + "|");
      const bool literal = !kind.empty() && std::string_view("alm").find(kind.back()) != std::string_view::npos;
      if (literal)
        mark(begin, Range{begin, end}.of(bytes_));
      else
        cell({begin, end});
    }
  }
  [[nodiscard]] size_t next_bar(size_t at, size_t end) const {
    while (at < end && !(bytes_[at] == '|' && (at == 0 || bytes_[at - 1] != '\\'))) ++at;
    return at;
  }
  // Blank lines divide a cell's paragraphs.
  void cell(Range range) {
    LineReader lines(bytes_.substr(0, range.end), range.begin);
    Range text{range.begin, range.begin};
    for (Range line; lines.next(line);) {
      if (is_blank_line(line.of(bytes_))) {
        paragraph(trimmed(text), true);
        text = {line.end, line.end};
      } else {
        text.end = line.end;
      }
    }
    paragraph(trimmed(text), true);
  }
  [[nodiscard]] Range trimmed(Range range) const {
    while (!range.empty() && is_blank(static_cast<unsigned char>(bytes_[range.begin]))) ++range.begin;
    while (!range.empty() && is_blank(static_cast<unsigned char>(bytes_[range.end - 1]))) --range.end;
    return range;
  }

  std::string_view bytes_;
  std::vector<FileLine> lines_;
  std::string style_;  // of the next block
  Found found_;
  LeftAlone left_;
  Switches switches_;
};

}  // namespace

const Style kAsciidocStyle = {.encode = encode_asciidoc, .join = join_asciidoc, .width = characters_of};

Result<Found> find_asciidoc(std::string_view bytes, size_t begin, const Options&) {
  return AsciidocReader(bytes, begin).read();
}

}  // namespace lapilli::documents
