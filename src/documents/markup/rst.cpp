// reStructuredText by lines and their indents: headings, paragraphs, lists, fields, definitions and the directives
// whose content is text. Tables, code and what is unknown stay.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "documents/lines.hpp"
#include "documents/markup/markup.hpp"
#include "documents/markup/rst_inline.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kDeepestBlock = 64;
constexpr size_t kTab = 8;
constexpr size_t kWidestScript = 0x1100;  // characters from here on may take two columns

// Directives by what their content is. Names with spaces around them.
constexpr std::string_view kBodies =  // the words behind the name are the content's first line
    " note warning tip important attention caution danger error hint seealso epigraph highlights pull-quote compound "
    "header footer todo ";
constexpr std::string_view kTitled =
    " admonition topic sidebar rubric centered table list-table contents tab tab-item ";
constexpr std::string_view kVersions = " versionadded versionchanged deprecated versionremoved ";
constexpr std::string_view kArguments =  // the words behind the name stay
    " container class rst-class only figure hlist tabs tab-set function method attribute data exception object option "
    "envvar confval staticmethod classmethod property describe glossary grid grid-item card module ";
constexpr std::string_view kLeft =
    " image code code-block sourcecode math raw include literalinclude toctree highlight default-role role meta "
    "unicode "
    "sectnum target-notes automodule autoclass autofunction autosummary currentmodule index graphviz plot "
    "testcode testoutput testsetup doctest tabularcolumns parsed-literal productionlist program csv-table date title "
    "section-numbering replace ifconfig contents local prompt ipython mermaid ";

bool named_in(std::string_view names, std::string_view name) {
  return names.find(" " + std::string(name) + " ") != std::string_view::npos;
}

bool is_adornment_sign(char c) { return c > ' ' && c < 0x7f && is_sign(static_cast<unsigned char>(c)); }

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) columns += next_character(text, at) >= kWidestScript ? 2 : 1;
  return columns;
}

struct TextLine {
  size_t begin = 0, end = 0;  // without blanks around
  size_t indent = 0;
  [[nodiscard]] bool blank() const { return begin >= end; }
  [[nodiscard]] Range range() const { return {begin, end}; }
};

std::vector<TextLine> indented_lines(std::string_view bytes, size_t begin) {
  std::vector<TextLine> lines;
  LineReader reader(bytes, begin);
  for (Range range; reader.next(range);) {
    TextLine line{range.begin, range.end, 0};
    for (; line.begin < line.end && is_blank(static_cast<unsigned char>(bytes[line.begin])); ++line.begin)
      line.indent = bytes[line.begin] == '\t' ? (line.indent / kTab + 1) * kTab : line.indent + 1;
    while (line.end > line.begin && is_blank(static_cast<unsigned char>(bytes[line.end - 1]))) --line.end;
    lines.push_back(line);
  }
  return lines;
}

class RstReader {
 public:
  RstReader(std::string_view bytes, size_t begin)
      : bytes_(bytes), references_(bytes), lines_(indented_lines(bytes, begin)) {}

  Found read() {
    blocks(0, lines_.size(), 0, 0);
    directives_.tell(found_.notes, "directive that is not known", "directives that are not known");
    tables_.tell(found_.notes, "table", "tables");
    headings_.tell(found_.notes, "heading that the text refers to", "headings that the text refers to");
    switches_.apply(found_);
    return std::move(found_);
  }

 private:
  // ---- lines ----
  [[nodiscard]] std::string_view text(size_t i) const { return lines_[i].range().of(bytes_); }
  [[nodiscard]] bool blank(size_t i, size_t last) const { return i >= last || lines_[i].blank(); }
  void mark(size_t at, std::string_view what) { found_.markup.push_back({at, number_of(what)}); }

  // The end of lines that are blank or indented more than `base`, without blank ones at the end.
  [[nodiscard]] size_t indented_end(size_t i, size_t last, size_t base) const {
    size_t end = i;
    for (; i < last && (lines_[i].blank() || lines_[i].indent > base); ++i) end = lines_[i].blank() ? end : i + 1;
    return end;
  }
  [[nodiscard]] size_t least_indent(size_t i, size_t last, size_t otherwise) const {
    size_t least = SIZE_MAX;
    for (; i < last; ++i) least = lines_[i].blank() ? least : std::min(least, lines_[i].indent);
    return least == SIZE_MAX ? otherwise : least;
  }
  [[nodiscard]] size_t blank_end(size_t i, size_t last) const {
    while (i < last && !lines_[i].blank()) ++i;
    return i;
  }
  [[nodiscard]] bool is_adornment(size_t i, size_t last) const {
    if (blank(i, last) || !is_adornment_sign(text(i)[0])) return false;
    return text(i).find_first_not_of(text(i)[0]) == std::string_view::npos;
  }

  // ---- blocks ----
  void blocks(size_t i, size_t last, size_t base, size_t depth) {
    if (depth > kDeepestBlock) return;
    while (i < last) {
      if (lines_[i].blank()) {
        ++i;
      } else if (lines_[i].indent > base) {
        const size_t end = indented_end(i, last, base);
        mark(lines_[i].begin, "quote");
        blocks(i, end, least_indent(i, end, base), depth + 1);
        i = end;
      } else {
        i = block(i, last, base, depth);
      }
    }
  }

  size_t block(size_t i, size_t last, size_t base, size_t depth) {
    const std::string_view line = text(i);
    if (line == ".." || line.starts_with(".. ")) return explicit_markup(i, last, base, depth);
    if (line == "__" || line.starts_with("__ ")) return i + 1;
    if (line.starts_with(">>> ") || line == ">>>") return left(i, blank_end(i, last));
    if (line.starts_with("+-") && line.ends_with('+')) return table(i, blank_end(i, last), "grid tables");
    if (is_simple_table(line)) return table(i, simple_table_end(i, last), "simple tables");
    if (const size_t marker = list_marker(i, last, base)) return item(i, last, base, depth, marker);
    if (const size_t marker = field_marker(line)) return field(i, last, base, depth, marker);
    if (const size_t marker = option_marker(line)) return option(i, last, base, depth, marker);
    if (line == "|" || line.starts_with("| ")) return line_block(i, last);
    if (const size_t end = overlined(i, last)) return end;
    return text_block(i, last, base, depth);
  }

  size_t left(size_t i, size_t end) {
    mark(lines_[i].begin, Range{lines_[i].begin, lines_[end - 1].end}.of(bytes_));
    return end;
  }
  size_t table(size_t i, size_t end, std::string_view kind) {
    tables_.count(kind);
    return left(i, end);
  }

  static bool is_simple_table(std::string_view line) {
    return line.starts_with("==") && line.find(' ') != std::string_view::npos &&
           line.find_first_not_of("= ") == std::string_view::npos;
  }
  // It ends with a border in front of a blank line.
  size_t simple_table_end(size_t i, size_t last) {
    if (no_border_before_ == last) return blank_end(i, last);
    for (size_t k = i + 1; k < last; ++k) {
      const bool border = !lines_[k].blank() && text(k).find_first_not_of("= ") == std::string_view::npos;
      if (border && blank(k + 1, last)) return k + 1;
    }
    no_border_before_ = last;
    return blank_end(i, last);
  }

  // ---- headings ----
  // The end of a heading with a line above it; 0 if there is none. Also takes a transition.
  size_t overlined(size_t i, size_t last) {
    if (!is_adornment(i, last)) return 0;
    const bool heading = !blank(i + 1, last) && is_adornment(i + 2, last) && text(i + 2)[0] == text(i)[0];
    if (heading) {
      add_heading(i + 1, {lines_[i].range(), lines_[i + 2].range()});
      return i + 3;
    }
    if (!blank(i + 1, last) || text(i).size() < 4) return 0;
    mark(lines_[i].begin, "transition");
    return i + 1;
  }

  void add_heading(size_t i, std::vector<Range> adornments) {
    const bool over = adornments.size() > 1;
    mark(adornments.front().begin, "heading" + std::string(over ? "=" : "-") + bytes_[adornments.front().begin]);
    const bool named = references_.contains(text(i));
    if (named && (over || lines_[i].indent > 0 || text(i).find_first_of("`\\<>") != std::string_view::npos))
      return headings_.count(text(i));
    TextFlow flow(found_);
    read_rst_inline(bytes_, lines_[i].range(), references_, flow.builder(), found_.markup);
    flow.passage().adornments = std::move(adornments);
    flow.passage().in_heading = true;
    if (named) flow.passage().before = ".. _`" + std::string(text(i)) + "`:\n\n";
    flow.finish();
  }

  // ---- lists ----
  // The length of a bullet or an enumerator with the blanks behind it; 0 if there is none.
  [[nodiscard]] size_t list_marker(size_t i, size_t last, size_t base) const {
    const std::string_view line = text(i);
    size_t end = bullet_end(line);
    const bool bullet = end > 0;
    if (!bullet) end = enumerator_end(line);
    if (end == 0 || (end < line.size() && line[end] != ' ' && line[end] != '\t')) return 0;
    if (!bullet && !blank(i + 1, last) && lines_[i + 1].indent <= base && enumerator_end(text(i + 1)) == 0) return 0;
    while (end < line.size() && (line[end] == ' ' || line[end] == '\t')) ++end;
    return end;
  }
  static size_t bullet_end(std::string_view line) {
    if (std::string_view("-+*").find(line[0]) != std::string_view::npos) return 1;
    for (const std::string_view bullet : {"\u2022", "\u2023", "\u2043"})
      if (line.starts_with(bullet)) return bullet.size();
    return 0;
  }
  static size_t enumerator_end(std::string_view line) {
    const size_t begin = line[0] == '(' ? 1 : 0;
    const auto run_of = [&](std::string_view signs) {
      return std::min(line.find_first_not_of(signs, begin), line.size());
    };
    size_t end = run_of("0123456789");
    if (end == begin) end = run_of("ivxlcdm");
    if (end == begin) end = run_of("IVXLCDM");
    const bool letter =
        begin < line.size() && (is_ascii_letter(static_cast<unsigned char>(line[begin])) || line[begin] == '#');
    const auto closes = [&](size_t at) {
      return at < line.size() && (line[at] == ')' || (line[at] == '.' && begin == 0));
    };
    if (letter && !closes(end)) end = begin + 1;
    return end > begin && closes(end) ? end + 1 : 0;
  }

  // A marker with a body: its first line is that behind the marker.
  size_t item(size_t i, size_t last, size_t base, size_t depth, size_t marker) {
    mark(lines_[i].begin, "item" + std::string(1, text(i)[0]));
    const size_t end = std::max(indented_end(i + 1, last, base), i + 1);
    const bool empty = marker >= text(i).size();
    const size_t indent = empty ? least_indent(i + 1, end, base) : base + marker;
    begin_line_behind(i, marker, indent);
    blocks(i, end, indent, depth + 1);
    return end;
  }
  void begin_line_behind(size_t i, size_t marker, size_t indent) {
    lines_[i].begin = std::min(lines_[i].begin + marker, lines_[i].end);
    lines_[i].indent = indent;
  }
  // A marker whose body's other lines may be indented in any way.
  size_t loose_item(size_t i, size_t last, size_t base, size_t depth, size_t marker) {
    const size_t end = std::max(indented_end(i + 1, last, base), i + 1);
    const size_t indent = least_indent(i + 1, end, base + marker);
    begin_line_behind(i, marker, indent);
    blocks(i, end, indent, depth + 1);
    return end;
  }

  // ":name: body"; the length with the blanks behind it.
  static size_t field_marker(std::string_view line) {
    if (line.size() < 3 || line[0] != ':' || line[1] == ':' || line[1] == ' ') return 0;
    for (size_t at = line.find(':', 1); at < line.size(); at = line.find(':', at + 1)) {
      if (line[at - 1] == '\\' || line[at - 1] == ' ') continue;
      if (at + 1 == line.size()) return at + 1;
      if (line[at + 1] != ' ') continue;
      return std::min(line.find_first_not_of(' ', at + 1), line.size());
    }
    return 0;
  }
  // Facts about the document at its beginning, and types, stay.
  size_t field(size_t i, size_t last, size_t base, size_t depth, size_t marker) {
    const std::string_view name = text(i).substr(1);
    const bool type = name.starts_with("type ") || name.starts_with("rtype") || name.starts_with("vartype");
    const bool facts = at_beginning_ && !name.starts_with("Abstract") && !name.starts_with("Dedication");
    mark(lines_[i].begin, Range{lines_[i].begin, lines_[i].begin + marker}.of(bytes_));
    if (!type && !facts) return loose_item(i, last, base, depth, marker);
    size_t end = std::max(indented_end(i + 1, last, base), i + 1);
    while (facts && end < last && !lines_[end].blank() && field_marker(text(end)) > 0)
      end = std::max(indented_end(end + 1, last, base), end + 1);
    return end;
  }

  // "-a, --all  text": the description is behind two blanks, or on the next line.
  static size_t option_marker(std::string_view line) {
    const bool option = line.size() > 1 && (line[0] == '-' || (line[0] == '/' && line.size() > 2)) && line[1] != ' ' &&
                        (is_ascii_letter(static_cast<unsigned char>(line[1])) || line.starts_with("--"));
    if (!option || (line.starts_with("--") && line.find_first_not_of('-') == std::string_view::npos)) return 0;
    const size_t gap = line.find("  ");
    return gap == std::string_view::npos ? 0 : std::min(line.find_first_not_of(' ', gap), line.size());
  }
  size_t option(size_t i, size_t last, size_t base, size_t depth, size_t marker) {
    mark(lines_[i].begin, Range{lines_[i].begin, lines_[i].begin + marker}.of(bytes_));
    return loose_item(i, last, base, depth, marker);
  }

  size_t line_block(size_t i, size_t last) {
    for (; i < last && !lines_[i].blank() && text(i)[0] == '|'; ++i) {
      mark(lines_[i].begin, "|line");
      const size_t words = std::min(bytes_.find_first_not_of(" \t", lines_[i].begin + 1), lines_[i].end);
      paragraph({words, lines_[i].end});
    }
    return i;
  }

  // ---- text ----
  void paragraph(Range range) {
    at_beginning_ = false;
    if (range.empty()) return;
    TextFlow flow(found_);
    read_rst_inline(bytes_, range, references_, flow.builder(), found_.markup);
    flow.finish();
  }

  size_t text_block(size_t i, size_t last, size_t base, size_t depth) {
    if (is_adornment(i + 1, last) && is_underline(i)) {
      add_heading(i, {lines_[i + 1].range()});
      return i + 2;
    }
    if (!blank(i + 1, last) && lines_[i + 1].indent > base) return definition(i, last, base, depth);
    size_t end = i + 1;
    while (end < last && !lines_[end].blank() && lines_[end].indent <= base) ++end;
    Range range{lines_[i].begin, lines_[end - 1].end};
    const bool literal = ends_in_colons(range.of(bytes_));
    while (literal && !range.empty() && bytes_[range.end - 1] == ':') --range.end;
    mark(lines_[i].begin, literal ? "paragraph::" : "paragraph");
    paragraph(range);
    return literal ? literal_end(end, last, base) : end;
  }
  // "::", unless a backslash is in front of it.
  static bool ends_in_colons(std::string_view words) {
    if (!words.ends_with("::")) return false;
    size_t backslashes = 0;
    while (backslashes + 2 < words.size() && words[words.size() - 3 - backslashes] == '\\') ++backslashes;
    return backslashes % 2 == 0;
  }
  [[nodiscard]] bool is_underline(size_t i) const {
    const size_t length = text(i + 1).size();
    return length >= 4 || length >= columns_of(text(i));
  }
  // A literal block is indented, or each of its lines begins with the same sign.
  size_t literal_end(size_t i, size_t last, size_t base) {
    size_t first = i;
    while (first < last && lines_[first].blank()) ++first;
    if (first == last) return i;
    size_t end = first;
    if (lines_[first].indent > base) {
      end = indented_end(first, last, base);
    } else if (is_adornment_sign(text(first)[0])) {
      while (!blank(end, last) && text(end)[0] == text(first)[0]) ++end;
    }
    return end > first ? left(first, end) : i;
  }

  // "term : classifier", with the definition below.
  size_t definition(size_t i, size_t last, size_t base, size_t depth) {
    const size_t classifier = text(i).find(" : ");
    mark(lines_[i].begin, "term");
    if (!in_glossary_)
      paragraph({lines_[i].begin, classifier < text(i).size() ? lines_[i].begin + classifier : lines_[i].end});
    const size_t end = indented_end(i + 1, last, base);
    if (ends_in_colons(text(i))) return left(i + 1, end);
    blocks(i + 1, end, least_indent(i + 1, end, base), depth + 1);
    return end;
  }

  // ---- explicit markup ----
  size_t explicit_markup(size_t i, size_t last, size_t base, size_t depth) {
    const size_t end = std::max(indented_end(i + 1, last, base), i + 1);
    const std::string_view line = text(i);
    const size_t behind = std::min(line.find_first_not_of(" \t", 2), line.size());
    const std::string_view what = line.substr(behind);
    if (what.starts_with("_")) return end;
    if (what.starts_with("[")) return footnote(i, end, base, depth, behind);
    if (what.starts_with("|")) return substitution(i, end);
    const size_t name = directive_name(what);
    if (name > 0) return directive(i, end, base, depth, behind, name);
    // ".." alone in front of a blank line is an empty comment: what is indented below it is a quote.
    const size_t comment = what.empty() && blank(i + 1, last) ? i + 1 : end;
    switches_.comment(bytes_, {lines_[i].begin, lines_[comment - 1].end});
    mark(lines_[i].begin, Range{lines_[i].begin, lines_[comment - 1].end}.of(bytes_));
    return comment;
  }

  size_t footnote(size_t i, size_t end, size_t base, size_t depth, size_t behind) {
    const size_t close = text(i).find("] ", behind);
    mark(lines_[i].begin, text(i).substr(0, std::min(close, text(i).size())));
    if (close == std::string_view::npos) return end;
    return loose_item(i, end, base, depth, close + 2);
  }

  size_t substitution(size_t i, size_t end) {
    const size_t at = text(i).find("| replace:: ");
    const size_t words = at == std::string_view::npos ? text(i).size() : at + 12;
    mark(lines_[i].begin, text(i).substr(0, words));
    paragraph({lines_[i].begin + words, lines_[end - 1].end});
    return end;
  }

  // The length of "name::"; 0 if this is no directive.
  static size_t directive_name(std::string_view what) {
    size_t at = 0;
    while (at < what.size() &&
           (is_ascii_letter(static_cast<unsigned char>(what[at])) ||
            is_ascii_digit(static_cast<unsigned char>(what[at])) ||
            std::string_view("-_.+").find(what[at]) != std::string_view::npos ||
            (what[at] == ':' && at + 1 < what.size() && what[at + 1] != ':' && what[at + 1] != ' ')))
      ++at;
    const std::string_view rest = what.substr(at);
    return at > 0 && (rest == "::" || rest.starts_with(":: ")) ? at + 2 : 0;
  }

  size_t directive(size_t i, size_t end, size_t base, size_t depth, size_t behind, size_t length) {
    const std::string_view line = text(i);
    std::string name = ascii_lower(line.substr(behind, length - 2));
    const bool domain = name.find(':') != std::string::npos;
    const size_t argument = std::min(line.find_first_not_of(" \t", behind + length), line.size());
    mark(lines_[i].begin, line.substr(0, behind + length));
    const bool known_left = named_in(kLeft, name);
    if (named_in(kBodies, name)) {
      hide_options(i + 1, end);
      return content(i, end, base, depth, argument);
    }
    if (named_in(kVersions, name)) {
      const size_t words = line.find(' ', argument);
      return content(i, end, base, depth, words == std::string_view::npos ? line.size() : words + 1);
    }
    if (named_in(kTitled, name)) paragraph({lines_[i].begin + argument, lines_[i].end});
    if (!domain && (known_left || !(named_in(kTitled, name) || named_in(kArguments, name)))) {
      if (!known_left && !named_in(kTitled, name)) directives_.count(name);
      return end > i + 1 ? left(i + 1, end) : end;
    }
    hide_options(i + 1, end);
    const bool outer = std::exchange(in_glossary_, in_glossary_ || name == "glossary");
    content(i, end, base, depth, line.size());
    in_glossary_ = outer;
    return end;
  }

  // Options stay: they are like blank lines.
  void hide_options(size_t i, size_t end) {
    for (; i < end && !lines_[i].blank() && field_marker(text(i)) > 0; ++i) {
      mark(lines_[i].begin, text(i));
      lines_[i].begin = lines_[i].end;
    }
  }

  size_t content(size_t i, size_t end, size_t base, size_t depth, size_t first) {
    loose_item(i, end, base, depth, first);
    return end;
  }

  std::string_view bytes_;
  RstReferences references_;
  std::vector<TextLine> lines_;
  Found found_;
  bool at_beginning_ = true, in_glossary_ = false;
  size_t no_border_before_ = SIZE_MAX;  // the end of lines in which the last border was sought in vain
  LeftAlone directives_, tables_, headings_;
  Switches switches_;
};

}  // namespace

const Style kRstStyle = {.encode = encode_rst, .join = join_rst, .width = columns_of};

Result<Found> find_rst(std::string_view bytes, size_t begin, const Options&) { return RstReader(bytes, begin).read(); }

}  // namespace lapilli::documents
