#include "documents/office/xml_tokens.hpp"

#include <algorithm>

namespace lapilli::documents {

namespace {

constexpr size_t kLongestShown = 60;

bool is_xml_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool ends_xml_name(char c) { return is_xml_space(c) || std::string_view("/>=<\"'&\0", 8).find(c) != std::string::npos; }

std::string shown(std::string_view name) { return std::string(name.substr(0, kLongestShown)); }

}  // namespace

const XmlAttribute* XmlToken::attribute(std::string_view called) const {
  const auto at =
      std::find_if(attributes.begin(), attributes.end(), [&](const XmlAttribute& a) { return a.name == called; });
  return at == attributes.end() ? nullptr : &*at;
}

std::string_view XmlToken::value(std::string_view called, std::string_view bytes) const {
  const XmlAttribute* found = attribute(called);
  return found ? found->value.of(bytes) : std::string_view();
}

std::string_view local_name(std::string_view name) {
  const size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

Failure XmlTokens::wrong(size_t at, const std::string& what) const {
  const std::string_view before = bytes_.substr(0, at);
  const auto line = 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
  return fail(ErrorCode::invalid_data, "line %u: %s: this is no XML; write the file again with the program it is from",
              line, what);
}

Result<bool> XmlTokens::next(XmlToken& token) {
  if (at_ >= bytes_.size()) {
    if (!open_.empty()) return wrong(bytes_.size(), "<" + shown(open_.back()) + "> never ends");
    return false;
  }
  token = XmlToken();
  token.range.begin = at_;
  if (bytes_[at_] == '<') {
    LAPILLI_CHECK(markup(token));
  } else {
    at_ = std::min(bytes_.find('<', at_), bytes_.size());
    token.inside = {token.range.begin, at_};
  }
  token.range.end = at_;
  return true;
}

Status XmlTokens::skip_element(XmlToken& token) {
  if (token.closed) return {};
  const size_t outside = open_.size() - 1;
  while (open_.size() > outside) {
    LAPILLI_TRY(const bool more, next(token));
    if (!more) break;
  }
  return {};
}

Status XmlTokens::markup(XmlToken& token) {
  const std::string_view here = bytes_.substr(at_, 9);
  if (here.starts_with("<!--")) {
    token.type = XmlToken::comment;
    return until(token, "-->", 4);
  }
  if (here == "<![CDATA[") {
    token.type = XmlToken::cdata;
    return until(token, "]]>", here.size());
  }
  if (here.starts_with("<?")) {
    token.type = XmlToken::other;
    LAPILLI_CHECK(until(token, "?>", 2));
    return check_charset(token);
  }
  if (here.starts_with("<!DOCTYPE")) return doctype(token);
  return here.starts_with("</") ? end_tag(token) : start_tag(token);
}

Status XmlTokens::until(XmlToken& token, std::string_view ending, size_t head) {
  token.inside.begin = at_ + head;
  const size_t end = bytes_.find(ending, token.inside.begin);
  if (end == std::string_view::npos) return wrong(at_, "'" + shown(bytes_.substr(at_, head)) + "' never ends");
  token.inside.end = end;
  at_ = end + ending.size();
  return {};
}

// Entities could make a file of any size out of a few bytes, or read other files.
Status XmlTokens::doctype(XmlToken& token) {
  token.type = XmlToken::other;
  const size_t end = bytes_.find_first_of("[>", at_);
  const bool declares = end < bytes_.size() && bytes_[end] == '[';
  LAPILLI_CHECK(until(token, declares ? "]" : ">", 9));
  if (const size_t entity = token.inside.of(bytes_).find("<!ENTITY"); declares && entity != std::string_view::npos)
    return wrong(token.inside.begin + entity, "entities are not expanded, put their texts in their places");
  if (!declares) return {};
  return until(token, ">", 0);
}

Status XmlTokens::check_charset(const XmlToken& token) {
  constexpr std::string_view kWord = "encoding=";
  const std::string_view text = token.inside.of(bytes_);
  const size_t at = text.find(kWord);
  if (!text.starts_with("xml") || text.size() < 4 || !is_xml_space(text[3]) || at == std::string_view::npos) return {};
  std::string_view charset = text.substr(std::min(at + kWord.size() + 1, text.size()));
  charset = charset.substr(0, std::min(charset.find_first_of("\"'"), kLongestShown));
  const std::string name = ascii_lower(charset);
  if (name.empty() || name == "utf-8" || name == "utf8" || name == "us-ascii") return {};
  return fail(ErrorCode::unsupported,
              "the document says that its charset is '%s': convert it to UTF-8 (iconv -f %s -t UTF-8), and let it say "
              "so",
              charset, charset);
}

void XmlTokens::skip_blanks() {
  while (at_ < bytes_.size() && is_xml_space(bytes_[at_])) ++at_;
}

std::string_view XmlTokens::name() {
  const size_t begin = at_;
  while (at_ < bytes_.size() && !ends_xml_name(bytes_[at_])) ++at_;
  return bytes_.substr(begin, at_ - begin);
}

Status XmlTokens::start_tag(XmlToken& token) {
  token.type = XmlToken::start_tag;
  ++at_;
  token.name = name();
  if (token.name.empty()) return wrong(token.range.begin, "a '<' is no tag");
  for (skip_blanks(); peek() != '>' && peek() != '/'; skip_blanks()) LAPILLI_CHECK(attribute(token));
  token.closed = peek() == '/';
  at_ += token.closed ? 2 : 1;
  if (at_ > bytes_.size() || bytes_[at_ - 1] != '>') return wrong(token.range.begin, "a tag never ends");
  if (token.closed) return {};
  if (open_.size() == kDeepest) return wrong(token.range.begin, "elements nest too deeply");
  open_.push_back(token.name);
  return {};
}

Status XmlTokens::attribute(XmlToken& token) {
  const std::string_view called = name();
  skip_blanks();
  const bool equals = !called.empty() && peek() == '=';
  if (equals) ++at_;
  skip_blanks();
  const char quote = peek();
  if (!equals || (quote != '"' && quote != '\''))
    return wrong(token.range.begin, "<" + shown(token.name) + "> has a broken attribute '" + shown(called) + "'");
  const size_t end = bytes_.find(quote, at_ + 1);
  if (end == std::string_view::npos) return wrong(token.range.begin, "a quote never ends");
  token.attributes.push_back({called, {at_ + 1, end}});
  at_ = end + 1;
  return {};
}

Status XmlTokens::end_tag(XmlToken& token) {
  token.type = XmlToken::end_tag;
  at_ += 2;
  token.name = name();
  skip_blanks();
  if (peek() != '>') return wrong(token.range.begin, "a tag never ends");
  ++at_;
  if (open_.empty() || open_.back() != token.name) {
    const std::string what = "</" + shown(token.name) + "> ends ";
    return wrong(token.range.begin, what + (open_.empty() ? "nothing" : "<" + shown(open_.back()) + ">"));
  }
  open_.pop_back();
  return {};
}

}  // namespace lapilli::documents
