// A document as units of text to translate, and everything else, which is kept to the byte: parse() finds the words,
// render() puts their translations where they were. docs/documents.md says what counts as words in each kind of
// document.
//
//   LAPILLI_TRY(Document document, Document::parse(Kind::html, bytes));
//   for (const Segment& s : document.segments()) ...      // translate s.text; where s.needs_links, align as well
//   LAPILLI_TRY(std::string out, document.render(translations));
//
// Part of the program, not of the library. A Document does not change; it may be used by any number of threads.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli::documents {

enum class Kind { text, markdown, html, srt, vtt };

// By its extension, in any case: .md .markdown, .html .htm .xhtml, .srt, .vtt, .txt .text. None for any other.
std::optional<Kind> kind_of_name(std::string_view file_name);
// "text", "markdown", "html", "srt", "vtt".
std::optional<Kind> kind_called(std::string_view name);
const char* kind_name(Kind kind);
// Not in a build without the library that this kind needs: parse() then says so, with the package's name.
bool kind_available(Kind kind);

// Bytes of Segment::text that an inline tag pair spans (bold, a link); begin == end: it stands between words.
struct Mark {
  size_t begin = 0, end = 0;
  bool kept = false;  // the words themselves stay as they are (code): they stand in the text for the model's sake
};

// A paragraph, a heading, a table cell, a line of text, a sentence or more that subtitles share.
struct Segment {
  std::string text;  // UTF-8 in one line, never empty, without markup, escapes and outer white space
  std::vector<Mark> marks;
  // Word links help to put its translation back: there are marks, or it goes into several subtitles. Otherwise
  // Translation::links is not looked at.
  bool needs_links = false;
};

// Bytes of Segment::text and of Translation::text that say the same. Those out of range are ignored.
struct WordLink {
  size_t source_begin = 0, source_end = 0;
  size_t target_begin = 0, target_end = 0;
  float weight = 1;
};

struct Translation {
  std::string text;             // UTF-8; line breaks in it become spaces
  std::vector<WordLink> links;  // empty where nothing was found: words then stand in proportion
};

class Document {
 public:
  // invalid_data: no UTF-8 (the message says at which line and byte); unsupported: too large, or a kind that is not in
  // this build. Any other bytes are a document.
  static Result<Document> parse(Kind kind, std::string bytes);

  // In the order of the document.
  [[nodiscard]] const std::vector<Segment>& segments() const;
  // The line, from 1, in which a segment begins.
  [[nodiscard]] size_t line(size_t segment) const;

  // One translation for each segment, in their order. One that is its segment's text leaves all bytes of that segment
  // as they were. invalid_argument: another number of them, or no UTF-8.
  [[nodiscard]] Result<std::string> render(std::span<const Translation> translations) const;

 private:
  struct Content;
  explicit Document(std::shared_ptr<const Content> content);
  std::shared_ptr<const Content> content_;
};

}  // namespace lapilli::documents
