// The tokens of an HTML document as the standard defines them, each with its bytes. No tree is built; errors that a
// browser repairs stay as they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/characters.hpp"

namespace lapilli::documents {

struct HtmlAttribute {
  std::string name;  // in lower case
  Range value;       // without quotes
};

struct HtmlToken {
  enum Type {
    text,
    raw,  // text without tags: of script, title, ...
    start_tag,
    end_tag,
    other,  // comments, the doctype, processing instructions, an unterminated tag
  } type = text;
  Range range;
  std::string name;  // of a tag, in lower case
  std::vector<HtmlAttribute> attributes;
  bool self_closing = false;  // <br/>; has a meaning only in XML
};

class HtmlTokens {
 public:
  HtmlTokens(std::string_view bytes, size_t begin) : bytes_(bytes), at_(begin) {}
  // False at the end. Amortized O(1) for each byte of the document.
  bool next(HtmlToken& token);

 private:
  bool raw_text(HtmlToken& token);
  [[nodiscard]] size_t raw_end(std::string_view name) const;
  [[nodiscard]] bool tag_name_at(size_t at, std::string_view name) const;
  [[nodiscard]] bool markup_at(size_t at) const;
  void comment(HtmlToken& token);
  bool tag(HtmlToken& token);
  bool attribute(HtmlToken& token);
  Range value();
  void skip_blanks();
  [[nodiscard]] char peek(size_t ahead = 0) const { return at_ + ahead < bytes_.size() ? bytes_[at_ + ahead] : '\0'; }
  [[nodiscard]] size_t behind(std::string_view what, size_t from) const;

  std::string_view bytes_;
  size_t at_;
  std::string raw_;  // the element whose raw text follows
};

}  // namespace lapilli::documents
