// A document as a Markdown parser (md4c) reports it, with the bytes of every word: leaf blocks and their content.
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
  Range bytes;                 // of words, entity and html; empty if they are not bytes of the document
  std::string target;          // of links and images: address and title; of code: its words
};

// A paragraph, heading, table cell, code block, ...
struct MarkdownLeaf {
  uint64_t path = 0;  // a hash of its own block and the blocks around it.
  bool in_table = false, in_heading = false;
  bool verbatim = false;  // code and HTML, nothing to translate
  std::vector<MarkdownEvent> events;
};

// Hash of something nested: equal for the same content in the same surroundings.
inline uint64_t within(uint64_t outer, uint64_t inner) { return (outer ^ inner) * 0x9e3779b97f4a7c15u + (outer >> 29); }

bool have_markdown_parser();
// Parses from `begin` on.
Result<std::vector<MarkdownLeaf>> outline_markdown(std::string_view bytes, size_t begin);

}  // namespace lapilli::documents
