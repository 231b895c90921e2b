#include "documents/office/xml_text.hpp"

#include <algorithm>
#include <array>

#include "documents/character_references.hpp"

namespace lapilli::documents {

namespace {

constexpr std::array<std::string_view, 5> kReferences = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
constexpr size_t kLongestReference = 64;

// The length of what may be a reference at the front of the text: 0 if it is none.
size_t reference_length(std::string_view text) {
  const size_t end = text.substr(0, kLongestReference).find_first_of("; \t\r\n<", 1);
  return end < text.size() && end != std::string_view::npos && text[end] == ';' && end > 1 ? end + 1 : 0;
}

// False if XML does not know it.
bool reference_meaning(std::string_view reference, std::string& out) {
  const bool number = reference.size() > 3 && reference[1] == '#';
  const bool named = std::find(kReferences.begin(), kReferences.end(), reference) != kReferences.end();
  return (number || named) && decode_reference(reference, out) == reference.size();
}

void append_escaped(std::string& out, std::string_view text, bool in_value) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '&')
      out += "&amp;";
    else if (text[i] == '<')
      out += "&lt;";
    else if (text[i] == '>')
      out += "&gt;";
    else if (in_value && text[i] == '"')
      out += "&quot;";
    else if (in_value && text[i] == '\'')
      out += "&apos;";
    else if (static_cast<unsigned char>(text[i]) >= ' ' || text[i] == '\t')
      out += text[i];
  }
}

void encode_xml_value(std::string& out, std::string_view text, Range range, bool, const Passage&) {
  append_escaped(out, range.of(text), true);
}

// Calls words(range) for what is written as it is, and reference(range) for what may be a reference.
void each_reference(std::string_view bytes, Range range, auto&& words, auto&& reference) {
  const std::string_view text = bytes.substr(0, range.end);
  size_t begin = range.begin;
  for (size_t at = begin; (at = text.find('&', at)) != std::string_view::npos;) {
    const size_t length = reference_length(text.substr(at));
    if (length == 0) {
      ++at;
      continue;
    }
    words(Range{begin, at});
    reference(Range{at, at + length});
    begin = at += length;
  }
  words(Range{begin, range.end});
}

}  // namespace

void encode_xml(std::string& out, std::string_view text, Range range, bool, const Passage&) {
  append_escaped(out, range.of(text), false);
}

const Style kXmlStyle = {encode_xml};
const Style kXmlValueStyle = {encode_xml_value};
const Style kXmlLinesStyle = {.encode = encode_xml, .balanced_lines = true};

void append_xml(std::string& out, std::string_view text) { append_escaped(out, text, false); }

std::optional<Edit> filled_attribute(const XmlToken& tag, std::string_view name, std::string_view value) {
  const XmlAttribute* there = tag.attribute(name);
  if (value.empty() || (there && !there->value.empty())) return std::nullopt;
  std::string written;
  append_xml(written, value);
  if (there) return Edit{there->value, written};
  const size_t behind_name = tag.range.begin + 1 + tag.name.size();
  return Edit{{behind_name, behind_name}, " " + std::string(name) + "=\"" + written + "\""};
}

std::string opened_tag(std::string_view bytes, const XmlToken& tag) {
  return std::string(Range{tag.range.begin, tag.range.end - (tag.closed ? 2 : 1)}.of(bytes)) + ">";
}

std::string decode_xml(std::string_view text) {
  std::string out;
  each_reference(
      text, {0, text.size()}, [&](Range r) { out += r.of(text); },
      [&](Range r) {
        if (!reference_meaning(r.of(text), out)) out += r.of(text);
      });
  return out;
}

void add_xml_words(PartBuilder& builder, std::string_view bytes, Range range) {
  each_reference(
      bytes, range, [&](Range r) { builder.words(r, r.of(bytes)); },
      [&](Range r) {
        std::string meaning;
        if (reference_meaning(r.of(bytes), meaning))
          builder.words(r, meaning);
        else
          builder.kept(r, r.of(bytes));
      });
}

// Words of cdata are written anew without it, so all of it is one item: its marks are bytes of the words' source.
void add_xml_text(PartBuilder& builder, std::string_view bytes, const XmlToken& token) {
  if (token.type == XmlToken::cdata)
    builder.words(token.range, token.inside.of(bytes));
  else
    add_xml_words(builder, bytes, token.range);
}

}  // namespace lapilli::documents
