// Texts within texts: a text box within a paragraph, a note within a sentence, the words of an attribute. Each becomes
// a text of its own, and a mark stands where it was, so that a tag may move with all that is in it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli::documents {

// The elements of a kind of document that matter for this. Names are as they are written, with their prefixes.
struct NestingRules {
  std::span<const std::string_view> paragraphs;
  std::span<const std::string_view> inside;      // in a paragraph, their content is a text of its own
  std::span<const std::string_view> plain;       // of these: those whose content is words alone
  std::span<const std::string_view> attributes;  // their words are texts, in the elements that `described` has
  std::string_view described;                    // the end of those elements' names: "cNvPr"
  std::string_view described_too;
};

enum class NestedSort { markup, words, attribute };
struct NestedText {
  std::string bytes;
  NestedSort sort = NestedSort::markup;
};

// The first is the document; the others are in it or in each other. Linear in the bytes. Refuses control characters,
// which XML has not: two of them are the marks.
Result<std::vector<NestedText>> take_apart(std::string_view xml, size_t begin, const NestingRules& rules);

// Puts texts back into the first of them. internal: a mark is lost or there twice.
Result<std::string> put_together(std::span<const std::string> texts);

// The mark of a text with this number.
std::string nesting_mark(size_t text);
// Invalid: a byte that XML has not.
Status check_xml_bytes(std::string_view bytes);

}  // namespace lapilli::documents
