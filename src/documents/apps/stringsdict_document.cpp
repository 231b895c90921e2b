// Apple's .stringsdict: a property list of plural rules.
#include <algorithm>
#include <utility>

#include "documents/apps/app_kinds.hpp"
#include "documents/apps/entry_comments.hpp"
#include "documents/apps/messages.hpp"
#include "documents/apps/xml_message.hpp"
#include "documents/plurals.hpp"

namespace lapilli::documents {

namespace {

// The texts of Apple's plural rules: all strings but those that name a rule or a type.
class StringsdictReader {
 public:
  StringsdictReader(std::string_view bytes, size_t begin, const Options& options)
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
      else if (token.type == XmlToken::end_tag && token.name == "dict")
        end_dict();
    }
    if (!plist_) return fail(ErrorCode::unsupported, "it has no <plist>, so it is no .stringsdict");
    found_.notes = messages_.notes.sentences();
    return std::move(found_);
  }

 private:
  Status element(XmlToken& token) {
    plist_ |= token.name == "plist";
    if (token.closed) return {};
    if (token.name == "dict") begin_dict(token.range.begin);
    if (token.name != "key" && token.name != "string") return {};
    const bool key = token.name == "key";
    LAPILLI_TRY(const WrittenText text, inner(token));
    if (key)
      take_key(text.text());
    else if (!dicts_.empty() && !dicts_.back().stays && !names_type(key_))
      messages_.add(text, rules_);
    return {};
  }

  static bool names_type(std::string_view key) {
    return key == "NSStringFormatSpecTypeKey" || key == "NSStringFormatValueTypeKey";
  }

  struct Dict {
    size_t at = 0;
    bool stays = false;
    std::vector<std::string> keys;
  };

  void begin_dict(size_t at) { dicts_.push_back({at, !dicts_.empty() && (dicts_.back().stays || entry_stays_), {}}); }

  void take_key(const std::string& key) {
    key_ = key;
    if (dicts_.empty()) return;
    if (dicts_.size() == 1) entry_stays_ = comments_.take();
    dicts_.back().keys.push_back(key);
  }

  void end_dict() {
    if (dicts_.empty()) return;
    const Dict dict = std::move(dicts_.back());
    dicts_.pop_back();
    const std::vector<std::string_view> keys(dict.keys.begin(), dict.keys.end());
    const bool plural = std::find(keys.begin(), keys.end(), "NSStringFormatSpecTypeKey") != keys.end();
    const std::string lacking = plural ? lacking_categories(options_.target_language, keys) : std::string();
    if (!lacking.empty())
      messages_.notes.add(dict.at, "the plural lacks forms that " + options_.target_language + " has: " + lacking);
  }

  Result<WrittenText> inner(XmlToken& token) {
    const size_t outside = tokens_.depth() - 1;
    WrittenText text;
    while (tokens_.depth() > outside) {
      LAPILLI_TRY(const bool more, tokens_.next(token));
      if (!more || tokens_.depth() == outside) break;
      if (token.type == XmlToken::text)
        append_xml_message(text, bytes_, token, false);
      else
        text.literal(bytes_, token.range);
    }
    return text;
  }

  std::string_view bytes_;
  XmlTokens tokens_;
  const Options& options_;
  Found found_;
  Messages messages_;
  MessageRules rules_;
  EntryComments comments_;
  bool plist_ = false, entry_stays_ = false;
  std::string key_;
  std::vector<Dict> dicts_;
};

void encode_stringsdict(std::string& out, std::string_view text, Range range, bool, const Passage& passage) {
  append_xml_words(out, message_words(text, range, passage.escapes), passage.escapes);
}

}  // namespace

const Style kStringsdictStyle = {encode_stringsdict};

Result<Found> find_stringsdict(std::string_view bytes, size_t begin, const Options& options) {
  return StringsdictReader(bytes, begin, options).read();
}

}  // namespace lapilli::documents
