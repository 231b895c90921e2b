#include "documents/apps/xml_texts.hpp"

#include <utility>

#include "documents/apps/app_kinds.hpp"
#include "documents/apps/xml_message.hpp"

namespace lapilli::documents {

XmlTexts::XmlTexts(std::string_view bytes, size_t begin, const Options& options)
    : bytes_(bytes), tokens_(bytes, begin), messages_(bytes, found_) {
  rules_.target_language = options.target_language;
}

Result<Found> XmlTexts::read(const XmlRoot& root) {
  XmlToken token;
  bool has_root = false;
  for (;;) {
    LAPILLI_TRY(const bool more, tokens_.next(token));
    if (!more) break;
    has_root |= token.type == XmlToken::start_tag && token.name == root.name;
    if (token.type == XmlToken::start_tag)
      LAPILLI_CHECK(element(token));
    else if (token.type == XmlToken::comment)
      comments_.comment(token.inside.of(bytes_));
    else if (token.type == XmlToken::end_tag)
      end(token);
  }
  if (!has_root) return fail(ErrorCode::unsupported, "%s", root.missing);
  found_.notes = messages_.notes.sentences();
  return std::move(found_);
}

Result<std::vector<XmlTexts::Text>> XmlTexts::content(XmlToken& token, bool backslashes) {
  const size_t outside = tokens_.depth() - 1;
  std::vector<Text> texts(1);
  while (tokens_.depth() > outside) {
    LAPILLI_TRY(const bool more, tokens_.next(token));
    if (!more || tokens_.depth() == outside) break;
    const bool cdata = token.type == XmlToken::cdata;
    if (cdata != texts.back().cdata || cdata) texts.push_back({{}, cdata});
    if (cdata || token.type == XmlToken::text)
      append_xml_message(texts.back().words, bytes_, token, backslashes);
    else
      texts.back().words.literal(bytes_, token.range);
  }
  return texts;
}

void XmlTexts::add(const Text& text) {
  rules_.xml = !text.cdata;
  rules_.escapes = text.cdata ? uint32_t{kEscapeCdata} : 0u;
  messages_.add(text.words, rules_);
}

void XmlTexts::tell_lacking(size_t at, std::span<const std::string_view> categories) {
  lapilli::documents::tell_lacking(messages_.notes, at, rules_.target_language, categories);
}

}  // namespace lapilli::documents
