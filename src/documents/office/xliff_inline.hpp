// The content of a source in XLIFF: words, and the inline elements among them.
#pragma once

#include <span>
#include <string_view>

#include "documents/office/markup_text.hpp"

namespace lapilli::documents {

// Reads to the end of the element that `token` begins.
Status read_xliff_content(std::string_view bytes, XmlTokens& tokens, XmlToken& token, MarkupText& text);
// Reads a part of such a content. What lies in `kept`, which is ascending, stays as it is. invalid_data: an element is
// in this part with one of its ends alone.
Status read_xliff_part(std::string_view bytes, Range part, std::span<const Range> kept, MarkupText& text);

// True for g, pc and mrk: their content is text.
bool is_xliff_pair(std::string_view name);

}  // namespace lapilli::documents
