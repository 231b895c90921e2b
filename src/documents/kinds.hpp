// The parts that differ between kinds of document: finding the words, and writing them. kinds.cpp has a row for each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/passage.hpp"
#include "documents/writing.hpp"

namespace lapilli::documents {

// Bytes that get other ones which no model makes: a header's language. A failed translation changes no edit.
struct Edit {
  Range at;
  std::string text;
};

// A piece of markup: where it is, and a number that is the same for the same markup elsewhere.
struct Markup {
  size_t at = 0, number = 0;
};

// The words of a document, or of one file in an archive.
struct Found {
  // In ascending order of their places. No two overlap, but one may lie between the parts of another: a footnote.
  std::vector<Passage> passages;
  std::vector<Edit> edits;  // ascending; apart from each other and from the places, at whose beginning they may be
  std::vector<std::string> notes;  // sentences about what was left alone
  std::vector<Markup> markup;      // all there is, ascending; only in kinds that are read again
};

// A text in which words are found: the document, or one file of an archive.
struct Piece {
  std::string bytes;
  Found found;
  const Style* style = nullptr;
};

struct KindTraits {
  Kind kind;
  // Takes valid UTF-8, whose byte order mark ends at `begin`.
  Result<Found> (*find)(std::string_view bytes, size_t begin, const Options& options) = nullptr;
  const Style* style = nullptr;
  // An archive has these in the place of `find` and `style`. `pack` takes the original and its pieces' new bytes.
  Result<std::vector<Piece>> (*unpack)(std::string_view archive, const Options& options) = nullptr;
  Result<std::string> (*pack)(std::string_view archive, const std::vector<std::string>& pieces) = nullptr;
  // An error for bytes that are not UTF-8, if they say what they are; "" if not. Null: such kinds say nothing.
  std::string (*charset_error)(std::string_view bytes) = nullptr;
  // Words may become markup in their new places: what was written is read again, and where its markup differs, the
  // words are written more carefully, or stay.
  bool read_again = false;
};
const KindTraits& traits_of(Kind kind);

std::vector<Passage> find_text_passages(std::string_view bytes, size_t begin);
Result<std::vector<Passage>> find_html_passages(std::string_view bytes, size_t begin);
// As XML, whether or not the page says so: <a id="x"/> has no content.
Result<std::vector<Passage>> find_xhtml_passages(std::string_view bytes, size_t begin);
std::vector<Passage> find_srt_passages(std::string_view bytes, size_t begin);
std::vector<Passage> find_vtt_passages(std::string_view bytes, size_t begin);
Result<std::vector<Passage>> find_markdown_passages(std::string_view bytes, size_t begin);
bool have_markdown();
Result<Found> find_csv(std::string_view bytes, size_t begin, const Options& options);
Result<Found> find_ass(std::string_view bytes, size_t begin, const Options& options);
Result<Found> find_sbv(std::string_view bytes, size_t begin, const Options& options);
Result<Found> find_lrc(std::string_view bytes, size_t begin, const Options& options);

// HTML elements, in lower case, that end a sentence where they begin and where they end: br, p, li, ...
bool is_html_block(std::string_view name);

extern const Style kTextStyle, kHtmlStyle, kSrtStyle, kVttStyle, kMarkdownStyle, kAssStyle, kSbvStyle, kLrcStyle;
Result<Found> find_po(std::string_view bytes, size_t begin, const Options& options);
std::string po_charset_error(std::string_view bytes);
extern const Style kCsvStyle, kPoStyle;

// Some words of Markdown become markup only in certain places. Reads `out` again and gives the passages whose markup
// differs; the text begins at `begin` in both.
std::vector<size_t> changed_markup(std::string_view bytes, const std::vector<Passage>& passages, std::string_view out,
                                   size_t begin);

}  // namespace lapilli::documents
