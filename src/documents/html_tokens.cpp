#include "documents/html_tokens.hpp"

#include <algorithm>
#include <array>

namespace lapilli::documents {

namespace {

constexpr std::array<std::string_view, 9> kRawElements = {"iframe", "noembed",  "noframes", "plaintext", "script",
                                                          "style",  "textarea", "title",    "xmp"};

bool is_html_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

bool ends_name(char c) { return is_html_space(c) || c == '/' || c == '>'; }

}  // namespace

// The position behind the first `what`; the end of the document if there is none.
size_t HtmlTokens::behind(std::string_view what, size_t from) const {
  const size_t at = bytes_.find(what, from);
  return at == std::string_view::npos ? bytes_.size() : at + what.size();
}

bool HtmlTokens::markup_at(size_t at) const {
  if (bytes_[at] != '<' || at + 1 >= bytes_.size()) return false;
  const char c = bytes_[at + 1];
  return is_ascii_letter(static_cast<unsigned char>(c)) || c == '!' || c == '?' || (c == '/' && at + 2 < bytes_.size());
}

bool HtmlTokens::next(HtmlToken& token) {
  if (at_ >= bytes_.size()) return false;
  token = HtmlToken();
  token.range.begin = at_;
  if (!raw_.empty() && raw_text(token)) return true;
  if (markup_at(at_)) {
    const bool closes = peek(1) == '/';
    if (is_ascii_letter(static_cast<unsigned char>(peek(closes ? 2 : 1)))) {
      if (!tag(token)) token.type = HtmlToken::other;
    } else {
      comment(token);
    }
  } else {
    do at_ = std::min(bytes_.find('<', at_ + 1), bytes_.size());
    while (at_ < bytes_.size() && !markup_at(at_));
  }
  token.range.end = at_;
  return true;
}

// False if it is empty.
bool HtmlTokens::raw_text(HtmlToken& token) {
  token.type = HtmlToken::raw;
  at_ = raw_end(raw_);
  raw_.clear();
  token.range.end = at_;
  return !token.range.empty();
}

bool HtmlTokens::tag_name_at(size_t at, std::string_view name) const {
  return ascii_lower(bytes_.substr(at, name.size())) == name && at + name.size() < bytes_.size() &&
         ends_name(bytes_[at + name.size()]);
}

// Position of the end tag. A script may hold a comment with a script in it, whose end tag does not count.
size_t HtmlTokens::raw_end(std::string_view name) const {
  if (name == "plaintext") return bytes_.size();
  bool commented = false, nested = false;
  for (size_t at = at_; at < bytes_.size(); ++at) {
    const std::string_view here = bytes_.substr(at, 4);
    if (name == "script" && here == "<!--") commented = true;
    if (here.starts_with("-->")) commented = nested = false;
    if (here.empty() || here[0] != '<') continue;
    if (commented && tag_name_at(at + 1, name)) nested = true;
    if (here.size() < 2 || here[1] != '/' || !tag_name_at(at + 2, name)) continue;
    if (!nested) return at;
    nested = false;
  }
  return bytes_.size();
}

void HtmlTokens::comment(HtmlToken& token) {
  token.type = HtmlToken::other;
  const std::string_view here = bytes_.substr(at_, 6);
  if (here.starts_with("<!-->") || here.starts_with("<!--->")) {
    at_ = behind(">", at_);
  } else if (here.starts_with("<!--")) {
    at_ = behind("--", at_ + 4);
    while (at_ < bytes_.size() && peek() != '>' && !(peek() == '!' && peek(1) == '>')) at_ = behind("--", at_ - 1);
    at_ = behind(">", at_);
  } else {
    at_ = behind(">", at_);
  }
}

void HtmlTokens::skip_blanks() {
  while (at_ < bytes_.size() && is_html_space(bytes_[at_])) ++at_;
}

Range HtmlTokens::value() {
  const char quote = peek();
  if (quote == '"' || quote == '\'') {
    const size_t begin = at_ + 1;
    at_ = behind(std::string_view(&quote, 1), begin);
    return {begin, std::max(begin, at_ - 1)};
  }
  const size_t begin = at_;
  while (at_ < bytes_.size() && !is_html_space(bytes_[at_]) && bytes_[at_] != '>') ++at_;
  return {begin, at_};
}

// Reads one attribute; false at the end of the tag.
bool HtmlTokens::attribute(HtmlToken& token) {
  while (at_ < bytes_.size() && (is_html_space(bytes_[at_]) || bytes_[at_] == '/')) ++at_;
  if (at_ >= bytes_.size() || bytes_[at_] == '>') return false;
  const size_t begin = at_++;
  while (at_ < bytes_.size() && !ends_name(bytes_[at_]) && bytes_[at_] != '=') ++at_;
  HtmlAttribute attribute{ascii_lower(bytes_.substr(begin, at_ - begin)), {at_, at_}};
  skip_blanks();
  if (peek() == '=') {
    ++at_;
    skip_blanks();
    attribute.value = value();
  }
  token.attributes.push_back(std::move(attribute));
  return true;
}

// False if the tag does not end.
bool HtmlTokens::tag(HtmlToken& token) {
  token.type = peek(1) == '/' ? HtmlToken::end_tag : HtmlToken::start_tag;
  at_ += token.type == HtmlToken::end_tag ? 2 : 1;
  const size_t begin = at_;
  while (at_ < bytes_.size() && !ends_name(bytes_[at_])) ++at_;
  token.name = ascii_lower(bytes_.substr(begin, at_ - begin));
  while (attribute(token)) {
  }
  if (at_ >= bytes_.size()) return false;
  token.self_closing = bytes_[at_ - 1] == '/';
  ++at_;
  const bool raw = std::find(kRawElements.begin(), kRawElements.end(), token.name) != kRawElements.end();
  if (raw && token.type == HtmlToken::start_tag) raw_ = token.name;
  return true;
}

}  // namespace lapilli::documents
