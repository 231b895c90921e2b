// Texts in XML: what references mean, how words are written, and words with tags for a part.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "documents/kinds.hpp"
#include "documents/office/xml_tokens.hpp"

namespace lapilli::documents {

// The five references that XML has, and numbers. A reference that it lacks stays as it is.
std::string decode_xml(std::string_view text);

// Adds the words of a range of text; a reference that XML lacks is kept.
void add_xml_words(PartBuilder& builder, std::string_view bytes, Range range);
// Adds the words of a text or cdata token.
void add_xml_text(PartBuilder& builder, std::string_view bytes, const XmlToken& token);

// Appends a text as XML has it between tags.
void append_xml(std::string& out, std::string_view text);

// Gives an attribute of a start tag a value; none if it has one, or if there is no value.
std::optional<Edit> filled_attribute(const XmlToken& tag, std::string_view name, std::string_view value);
// The start tag, without the slash of one that is closed.
std::string opened_tag(std::string_view bytes, const XmlToken& tag);

// Words between tags, and in an attribute; lines of subtitles; words that may be within ICU's syntax.
extern const Style kXmlStyle, kXmlValueStyle, kXmlLinesStyle, kXliffStyle;
void encode_xml(std::string& out, std::string_view text, Range range, bool begins_line, const Passage& passage);

}  // namespace lapilli::documents
