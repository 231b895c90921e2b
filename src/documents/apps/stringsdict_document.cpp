// Apple's .stringsdict: a property list of plural rules.
#include <algorithm>
#include <utility>

#include "documents/apps/app_kinds.hpp"
#include "documents/apps/xml_message.hpp"
#include "documents/apps/xml_texts.hpp"

namespace lapilli::documents {

namespace {

// The texts of Apple's plural rules: all strings but those that name a rule or a type.
class StringsdictReader : public XmlTexts {
 public:
  using XmlTexts::XmlTexts;

 private:
  struct Dict {
    size_t at = 0;
    bool stays = false;
    std::vector<std::string> keys;
    SeenKeys seen;
  };

  Status element(XmlToken& token) override {
    if (token.closed) return {};
    if (token.name == "dict") begin_dict(token.range.begin);
    if (token.name != "key" && token.name != "string") return {};
    const bool key = token.name == "key";
    const size_t at = token.range.begin;
    LAPILLI_TRY(const std::vector<Text> texts, content(token, false));
    if (key)
      take_key(texts.front().words.text(), at);
    else if (!dicts_.empty() && !dicts_.back().stays && !names_type(key_))
      for (const Text& text : texts) add(text);
    return {};
  }

  static bool names_type(std::string_view key) {
    return key == "NSStringFormatSpecTypeKey" || key == "NSStringFormatValueTypeKey";
  }

  void begin_dict(size_t at) {
    dicts_.push_back({at, !dicts_.empty() && (dicts_.back().stays || entry_stays_), {}, {}});
  }

  void take_key(const std::string& key, size_t at) {
    key_ = key;
    if (dicts_.empty()) return;
    if (dicts_.size() == 1) entry_stays_ = comments_.take();
    dicts_.back().keys.push_back(key);
    dicts_.back().seen.add(key, at, notes());
  }

  void end(const XmlToken& token) override {
    if (token.name != "dict" || dicts_.empty()) return;
    const Dict dict = std::move(dicts_.back());
    dicts_.pop_back();
    const std::vector<std::string_view> keys(dict.keys.begin(), dict.keys.end());
    const bool plural = std::find(keys.begin(), keys.end(), "NSStringFormatSpecTypeKey") != keys.end();
    if (plural) tell_lacking(dict.at, keys);
  }

  bool entry_stays_ = false;
  std::string key_;
  std::vector<Dict> dicts_;
};

constexpr XmlRoot kPlistRoot = {"plist", "it has no <plist>, so it is no .stringsdict"};

void encode_stringsdict(std::string& out, std::string_view text, Range range, bool, const Passage& passage) {
  append_xml_words(out, message_words(text, range, passage.escapes), passage.escapes);
}

}  // namespace

const Style kStringsdictStyle = {encode_stringsdict};

Result<Found> find_stringsdict(std::string_view bytes, size_t begin, const Options& options) {
  return StringsdictReader(bytes, begin, options).read(kPlistRoot);
}

}  // namespace lapilli::documents
