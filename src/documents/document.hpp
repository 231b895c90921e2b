// A document as units of text to translate; everything else is kept to the byte. parse() finds the words, render() puts
// their translations in their places. docs/use/documents.md says what counts as words in each kind of document.
//
//   LAPILLI_TRY(Document document, Document::parse(Kind::html, bytes));
//   for (const Segment& s : document.segments()) ...      // translate s.text; where s.needs_links, align as well
//   LAPILLI_TRY(std::string out, document.render(translations));
//
// Part of the program, not of the library. A Document is immutable; any number of threads may use it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "documents/kind.hpp"
#include "documents/options.hpp"

namespace lapilli::documents {

// Bytes of Segment::text that an inline tag pair spans (bold, a link); begin == end: the tag stands between words.
struct Mark {
  size_t begin = 0, end = 0;
  bool kept = false;  // the words stay as they are (code); they are in the text only for the model
};

// A paragraph, a heading, a table cell, a line of text, or one or more sentences that subtitles share.
struct Segment {
  std::string text;  // one line of UTF-8, never empty, without markup, escapes and outer white space
  std::vector<Mark> marks;
  // True if word links help to place the translation: there are marks, or it is spread over several subtitles.
  // Otherwise Translation::links is ignored.
  bool needs_links = false;
};

// Bytes of Segment::text and of Translation::text with the same meaning. Links out of range are ignored.
struct WordLink {
  size_t source_begin = 0, source_end = 0;
  size_t target_begin = 0, target_end = 0;
  float weight = 1;
};

struct Translation {
  std::string text;             // UTF-8; line breaks in it become spaces
  std::vector<WordLink> links;  // if empty, words are placed in proportion
  bool failed = false;          // there is none: the place of the translation keeps its bytes
};

class Document {
 public:
  // invalid_data: invalid UTF-8 (the message names line and byte); unsupported: too large, or a kind that is not in
  // this build. Any other bytes are a document.
  static Result<Document> parse(Kind kind, std::string bytes, const Options& options = {});

  // In document order.
  [[nodiscard]] const std::vector<Segment>& segments() const;
  // The line, from 1, that a segment begins in; in a document of several parts, the line of its part.
  [[nodiscard]] size_t line(size_t segment) const;
  // Sentences for the user about what was left alone; in most documents none.
  [[nodiscard]] std::vector<std::string> notes() const;

  // Takes one translation for each segment, in order. A translation equal to its segment's text leaves that segment's
  // bytes unchanged, unless it has a place of its own (the target beside a source). invalid_argument: another number of
  // translations, or invalid UTF-8.
  [[nodiscard]] Result<std::string> render(std::span<const Translation> translations) const;

 private:
  struct Content;
  explicit Document(std::shared_ptr<const Content> content);
  [[nodiscard]] Result<std::string> pack_pieces(std::span<const Translation> translations) const;
  std::shared_ptr<const Content> content_;
};

}  // namespace lapilli::documents
