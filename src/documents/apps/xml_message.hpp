// The text of an XML element as a message: tags stay in it, references are characters.
#pragma once

#include <string_view>

#include "documents/office/xml_tokens.hpp"
#include "documents/written_text.hpp"

namespace lapilli::documents {

// Flags beside those of messages.hpp.
enum XmlMessageEscapes : uint32_t {
  kEscapeCdata = 1u << 9,  // within CDATA there are no references
};

// Appends an XML text, in which line ends and the blanks around them only fold lines. `backslashes`: Android's escapes
// count, and quotes that keep white space.
void append_xml_message(WrittenText& text, std::string_view bytes, const XmlToken& token, bool backslashes);

void append_xml_words(std::string& out, std::string_view words, uint32_t escapes);

}  // namespace lapilli::documents
