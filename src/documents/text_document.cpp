// Plain text: each line is a segment, or each of its cells if tabs or wide space divide it.
#include <utility>

#include "documents/kinds.hpp"
#include "documents/lines.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kWideSpace = 3;  // blanks in a row that divide a line like a tab

size_t skip_indent(std::string_view line, size_t at) {
  while (at < line.size() && (line[at] == '>' || is_blank(static_cast<unsigned char>(line[at])))) ++at;
  return at;
}

// Length of a bullet at `at`, without its mandatory blank; 0 if there is none.
size_t bullet_length(std::string_view line, size_t at) {
  size_t end = at;
  const char32_t c = next_character(line, end);
  if (std::u32string_view(U"-*+\u2022\u2023\u25e6\u25aa\u25cf\u2013\u2014\u00b7\u2043").find(c) !=
      std::u32string_view::npos) {
    return end - at;
  }
  end = at + (c == '(' ? 1 : 0);
  const size_t digits = end;
  while (end < line.size() && end - digits < 9 && is_ascii_digit(static_cast<unsigned char>(line[end]))) ++end;
  const bool letter = end == digits && end + 1 < line.size() && is_ascii_letter(static_cast<unsigned char>(line[end]));
  if (letter) ++end;
  const bool closes =
      end > digits && end < line.size() && (line[end] == ')' || (line[end] == '.' && !letter && c != '('));
  return closes ? end + 1 - at : 0;
}

size_t skip_bullet(std::string_view line) {
  const size_t at = skip_indent(line, 0);
  if (at == line.size()) return at;
  const size_t end = at + bullet_length(line, at);
  const bool bullet = end > at && end < line.size() && is_blank(static_cast<unsigned char>(line[end]));
  return bullet ? skip_indent(line, end) : at;
}

// The end of the cell that begins at `at`.
size_t cell_end(std::string_view line, size_t at) {
  size_t blanks = 0;
  for (; at < line.size() && line[at] != '\t'; ++at) {
    blanks = is_blank(static_cast<unsigned char>(line[at])) ? blanks + 1 : 0;
    if (blanks == kWideSpace) break;
  }
  return at;
}

void add_cells(std::string_view bytes, Range line, std::vector<Passage>& passages) {
  const std::string_view text = line.of(bytes);
  for (size_t at = skip_bullet(text); at < text.size(); ++at) {
    const size_t end = cell_end(text, at);
    PartBuilder builder;
    builder.words({line.begin + at, line.begin + end}, text.substr(at, end - at));
    Passage passage;
    if (builder.finish(passage.parts)) passages.push_back(std::move(passage));
    at = end;
  }
}

void encode_text(std::string& out, std::string_view text, Range range, bool, const Passage&) { out += range.of(text); }

}  // namespace

const Style kTextStyle = {encode_text};

std::vector<Passage> find_text_passages(std::string_view bytes, size_t begin) {
  std::vector<Passage> passages;
  LineReader lines(bytes, begin);
  for (Range line; lines.next(line);) add_cells(bytes, line, passages);
  return passages;
}

}  // namespace lapilli::documents
