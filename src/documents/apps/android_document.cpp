// Android's strings.xml: string, string-array and plurals within resources.
#include <algorithm>
#include <utility>

#include "documents/apps/app_kinds.hpp"
#include "documents/apps/entry_comments.hpp"
#include "documents/apps/messages.hpp"
#include "documents/apps/xml_message.hpp"
#include "documents/plurals.hpp"

namespace lapilli::documents {

namespace {

class AndroidReader {
 public:
  AndroidReader(std::string_view bytes, size_t begin, const Options& options)
      : bytes_(bytes), tokens_(bytes, begin), options_(options), messages_(bytes, found_) {
    rules_.xml = true;
    rules_.target_language = options.target_language;
  }

  Result<Found> read() {
    XmlToken token;
    for (;;) {
      LAPILLI_TRY(const bool more, tokens_.next(token));
      if (!more) break;
      if (token.type == XmlToken::start_tag)
        LAPILLI_CHECK(element(token));
      else if (token.type == XmlToken::comment)
        comments_.comment(token.inside.of(bytes_));
      else if (token.type == XmlToken::end_tag)
        end(token);
    }
    if (!resources_)
      return fail(ErrorCode::unsupported, "it has no <resources>, so it holds no texts of an Android app");
    found_.notes = messages_.notes.sentences();
    return std::move(found_);
  }

 private:
  Status element(XmlToken& token) {
    const bool group = token.name == "string-array" || token.name == "plurals";
    const bool text = token.name == "string" || (token.name == "item" && in_group_);
    if (token.name == "resources") resources_ = true;
    if (token.name == "resources" || token.closed) return {};
    if (!group && !text) return tokens_.skip_element(token);
    const bool stays = (in_group_ ? false : comments_.take()) || bytes_says_no(token);
    if (group) {
      if (stays) return tokens_.skip_element(token);
      in_group_ = true;
      plural_ = token.name == "plurals";
      plural_at_ = token.range.begin;
      quantities_.clear();
      return {};
    }
    if (in_group_) quantities_.push_back(token.value("quantity", bytes_));
    return stays ? tokens_.skip_element(token) : message(token);
  }

  [[nodiscard]] bool bytes_says_no(const XmlToken& token) const {
    return token.value("translatable", bytes_) == "false" || token.value("translate", bytes_) == "no";
  }

  void end(const XmlToken& token) {
    if (token.name != "plurals" && token.name != "string-array") return;
    in_group_ = false;
    const std::string lacking = plural_ ? lacking_categories(options_.target_language, quantities_) : std::string();
    if (!lacking.empty())
      messages_.notes.add(plural_at_, "the plural lacks forms that " + options_.target_language + " has: " + lacking);
  }

  // Reads to the end tag. What stands in CDATA is a text of its own.
  Status message(XmlToken& token) {
    const size_t outside = tokens_.depth() - 1;
    WrittenText text;
    while (tokens_.depth() > outside) {
      LAPILLI_TRY(const bool more, tokens_.next(token));
      if (!more || tokens_.depth() == outside) break;
      if (token.type == XmlToken::cdata) {
        add(std::exchange(text, {}), 0);
        WrittenText inside;
        append_xml_message(inside, bytes_, token, true);
        add(inside, kEscapeCdata);
      } else if (token.type == XmlToken::text) {
        append_xml_message(text, bytes_, token, true);
      } else {
        text.literal(bytes_, token.range);
      }
    }
    add(text, 0);
    return {};
  }

  void add(const WrittenText& text, uint32_t escapes) {
    if (is_reference(text.text())) return;
    rules_.xml = (escapes & kEscapeCdata) == 0;
    rules_.escapes = escapes;
    messages_.add(text, rules_);
  }
  // @string/other, ?attr/name
  static bool is_reference(std::string_view text) {
    return (text.starts_with('@') || text.starts_with('?')) && text.find(' ') == std::string_view::npos &&
           text.find('/') != std::string_view::npos;
  }

  std::string_view bytes_;
  XmlTokens tokens_;
  const Options& options_;
  Found found_;
  Messages messages_;
  MessageRules rules_;
  EntryComments comments_;
  bool resources_ = false, in_group_ = false, plural_ = false;
  size_t plural_at_ = 0;
  std::vector<std::string_view> quantities_;
};

// An @ or ? at the beginning would name a resource.
void encode_android(std::string& out, std::string_view text, Range range, bool begins_line, const Passage& passage) {
  const std::string words = message_words(text, range, passage.escapes);
  std::string escaped;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool names = begins_line && i == 0 && (words[i] == '@' || words[i] == '?');
    if (names || words[i] == '\'' || words[i] == '"' || words[i] == '\\') escaped += '\\';
    escaped += words[i];
  }
  append_xml_words(out, escaped, passage.escapes);
}

}  // namespace

const Style kAndroidStyle = {encode_android};

Result<Found> find_android(std::string_view bytes, size_t begin, const Options& options) {
  return AndroidReader(bytes, begin, options).read();
}

}  // namespace lapilli::documents
