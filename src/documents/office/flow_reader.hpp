// XML in which words and tags alternate as in HTML: OpenDocument, and the small files of an e-book. A table of names
// says what the elements are.
#pragma once

#include <span>
#include <string_view>

#include "documents/kinds.hpp"

namespace lapilli::documents {

struct FlowRules {
  std::span<const std::string_view> blocks;    // their content is a segment, or several
  std::span<const std::string_view> pairs;     // in a block: tags around words
  std::span<const std::string_view> dividers;  // in a block: they end a segment
  std::span<const std::string_view> aside;     // nothing in them is read; in a block they stand between words
  std::span<const std::string_view> points;    // beginnings of names: in a block they stand between words, too
  std::string_view cell;                       // a table's cell: read if its value is a text and no formula
  std::string_view language;                   // an element whose content is the target language
  std::string_view blank;                      // an element that means white space
};
// Other elements in a block keep their words: fields.

Result<Found> find_flow_passages(std::string_view bytes, size_t begin, const FlowRules& rules, const Options& options);

}  // namespace lapilli::documents
