#include "documents/apps/xml_message.hpp"

#include <algorithm>

#include "documents/apps/json_tree.hpp"
#include "documents/character_references.hpp"

namespace lapilli::documents {

namespace {

class XmlMessageReader {
 public:
  XmlMessageReader(WrittenText& text, std::string_view bytes, const XmlToken& token, bool backslashes)
      : text_(text),
        bytes_(bytes),
        end_(token.inside.end),
        at_(token.inside.begin),
        backslashes_(backslashes),
        cdata_(token.type == XmlToken::cdata) {}

  void read() {
    for (size_t begin = at_; at_ < end_; begin = at_) {
      at_ = std::min(bytes_.substr(0, end_).find_first_of(backslashes_ ? "&\\\n\r\"" : "&\n\r", at_), end_);
      const bool folds = at_ < end_ && (bytes_[at_] == '\n' || bytes_[at_] == '\r');
      const size_t words = folds ? without_blanks(begin, at_) : at_;
      text_.literal(bytes_, {begin, words});
      if (at_ < end_) sign(words);
    }
  }

 private:
  void sign(size_t words) {
    const size_t begin = at_;
    std::string means;
    switch (bytes_[at_]) {
      case '&': reference(means); break;
      case '\\': escape(means); break;
      case '"': ++at_; break;
      default:
        while (at_ < end_ && is_blank(static_cast<unsigned char>(bytes_[at_]))) ++at_;
        return text_.escaped({words, at_}, "\r");
    }
    text_.escaped({begin, at_}, means);
  }

  void reference(std::string& means) {
    const size_t length = cdata_ ? 0 : decode_reference(bytes_.substr(at_, std::min<size_t>(40, end_ - at_)), means);
    if (length == 0) means = "&";
    at_ += std::max<size_t>(length, 1);
  }

  void escape(std::string& means) {
    const std::string_view all = bytes_.substr(0, end_);
    size_t length = decode_u_escape(all, at_, means);
    if (length == 0) {
      length = std::min<size_t>(2, end_ - at_);
      while (at_ + length < end_ && (all[at_ + length] & 0xc0) == 0x80) ++length;
      const std::string_view name = all.substr(at_ + 1, length - 1);
      means = name == "n" ? "\n" : name == "t" ? "\t" : std::string(name);
    }
    at_ += length;
  }

  [[nodiscard]] size_t without_blanks(size_t begin, size_t end) const {
    while (end > begin && is_blank(static_cast<unsigned char>(bytes_[end - 1]))) --end;
    return end;
  }

  WrittenText& text_;
  std::string_view bytes_;
  size_t end_, at_;
  bool backslashes_, cdata_;
};

}  // namespace

void append_xml_message(WrittenText& text, std::string_view bytes, const XmlToken& token, bool backslashes) {
  XmlMessageReader(text, bytes, token, backslashes).read();
}

void append_xml_words(std::string& out, std::string_view words, uint32_t escapes) {
  const bool cdata = escapes & kEscapeCdata;
  for (const char c : words) {
    if (c == '&' && !cdata)
      out += "&amp;";
    else if (c == '<' && !cdata)
      out += "&lt;";
    else if (c == '>')
      out += cdata && out.ends_with("]]") ? " >" : cdata ? ">" : "&gt;";
    else
      out += c;
  }
}

}  // namespace lapilli::documents
