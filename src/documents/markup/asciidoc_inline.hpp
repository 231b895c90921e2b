// Inline markup of AsciiDoc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/markup/markup.hpp"

namespace lapilli::documents {

// Reads running text into a flow; footnotes become passages of their own. What is markup goes to `markup`.
void read_asciidoc_inline(std::string_view bytes, Range range, TextFlow& flow, Found& found);

void encode_asciidoc(std::string& out, std::string_view text, Range range, bool begins_line, const Passage& passage);
void join_asciidoc(std::string& out, std::string_view next, Side side);

}  // namespace lapilli::documents
