// The tokens of an XML document, each with its bytes. No tree is built, and nothing is expanded.
//
// Expat and pugixml were weighed. Documents here are the original with ranges replaced, so the bytes of an attribute's
// value are needed as much as those of a text: expat gives the place of an event, not of the attributes in it, so the
// tag would be read a second time, and pugixml keeps no places of values. What they are good at, entities and the
// checks of a DTD, is refused here. So this is one pass over the bytes, in every build. tests/documents/tools holds
// what is written against expat.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "documents/characters.hpp"

namespace lapilli::documents {

struct XmlAttribute {
  std::string_view name;
  Range value;  // without quotes
};

struct XmlToken {
  enum Type {
    text,
    cdata,  // `inside` is its text
    start_tag,
    end_tag,
    comment,  // `inside` is its text
    other,    // the declaration, processing instructions, the doctype
  } type = text;
  Range range, inside;
  std::string_view name;  // of a tag, with its prefix
  std::vector<XmlAttribute> attributes;
  bool closed = false;  // <br/>: no end tag follows

  [[nodiscard]] const XmlAttribute* attribute(std::string_view called) const;
  // The value as it is written; "" if there is none.
  [[nodiscard]] std::string_view value(std::string_view called, std::string_view bytes) const;
};

// "p" of "tt:p".
std::string_view local_name(std::string_view name);

class XmlTokens {
 public:
  // Takes valid UTF-8: a document, or the content of an element.
  XmlTokens(std::string_view bytes, size_t begin) : bytes_(bytes), at_(begin) {}

  // False at the end. invalid_data, with the line: tags that do not match or never end, nesting deeper than kDeepest, a
  // doctype that declares entities. unsupported: another charset than UTF-8. O(1) for each byte of the document.
  Result<bool> next(XmlToken& token);
  // Reads on to the end of the element that `token` begins; then `token` is its end tag.
  Status skip_element(XmlToken& token);
  // Elements around the next token.
  [[nodiscard]] size_t depth() const { return open_.size(); }

  static constexpr size_t kDeepest = 1000;

 private:
  Status markup(XmlToken& token);
  Status until(XmlToken& token, std::string_view ending, size_t head);
  Status doctype(XmlToken& token);
  Status start_tag(XmlToken& token);
  Status end_tag(XmlToken& token);
  Status attribute(XmlToken& token);
  Status check_charset(const XmlToken& token);
  std::string_view name();
  void skip_blanks();
  [[nodiscard]] char peek() const { return at_ < bytes_.size() ? bytes_[at_] : '\0'; }
  [[nodiscard]] Failure wrong(size_t at, const std::string& what) const;

  std::string_view bytes_;
  size_t at_;
  std::vector<std::string_view> open_;
};

}  // namespace lapilli::documents
