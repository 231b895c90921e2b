// What a Markdown parser (md4c) says of a document, with the bytes of every word: leaf blocks and what is in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "documents/characters.hpp"

namespace lapilli::documents {

enum class Span { emphasis, strong, deleted, code, link, image };

struct MarkdownEvent {
  enum Kind { enter, leave, words, entity, html, soft_break, hard_break, null } kind = words;
  Span span = Span::emphasis;  // of enter and leave
  Range bytes;                 // of words, entity and html; empty where they are not bytes of the document
  std::string target;          // of links and images: address and title; of code: its words
};

// A paragraph, heading, table cell, code block, ...
struct MarkdownLeaf {
  uint64_t path = 0;  // a number for the blocks around it and its own
  bool in_table = false, in_heading = false;
  bool verbatim = false;  // code and HTML, nothing to translate
  std::vector<MarkdownEvent> events;
};

// Numbers for what stands within something: of the same with the same within, the same.
inline uint64_t within(uint64_t outer, uint64_t inner) { return (outer ^ inner) * 0x9e3779b97f4a7c15u + (outer >> 29); }

bool have_markdown_parser();
// From `begin` on.
Result<std::vector<MarkdownLeaf>> outline_markdown(std::string_view bytes, size_t begin);

}  // namespace lapilli::documents
