// Android's strings.xml: string, string-array and plurals within resources.
#include "documents/apps/app_kinds.hpp"
#include "documents/apps/xml_message.hpp"
#include "documents/apps/xml_texts.hpp"

namespace lapilli::documents {

namespace {

class AndroidReader : public XmlTexts {
 public:
  using XmlTexts::XmlTexts;

 private:
  Status element(XmlToken& token) override {
    const bool group = token.name == "string-array" || token.name == "plurals";
    const bool text = token.name == "string" || (token.name == "item" && in_group_);
    if (token.name == "resources" || token.closed) return {};
    if (!group && !text) return tokens_.skip_element(token);
    if (!in_group_) take_name(token);
    const bool stays = (in_group_ ? false : comments_.take()) || says_no(token);
    if (in_group_) quantities_.push_back(token.value("quantity", bytes_));
    if (stays) return tokens_.skip_element(token);
    if (text) return message(token);
    begin_group(token);
    return {};
  }

  // A name may occur once for each product, and as a text and a plural.
  void take_name(const XmlToken& token) {
    const std::string name(token.value("name", bytes_)), product(token.value("product", bytes_));
    names_.add(std::string(token.name) + ' ' + product + ' ' + name, token.range.begin, notes());
  }

  [[nodiscard]] bool says_no(const XmlToken& token) const {
    return token.value("translatable", bytes_) == "false" || token.value("translate", bytes_) == "no";
  }

  void begin_group(const XmlToken& token) {
    in_group_ = true;
    plural_ = token.name == "plurals";
    plural_at_ = token.range.begin;
    quantities_.clear();
  }

  void end(const XmlToken& token) override {
    if (token.name != "plurals" && token.name != "string-array") return;
    in_group_ = false;
    if (plural_) tell_lacking(plural_at_, quantities_);
  }

  Status message(XmlToken& token) {
    LAPILLI_TRY(const std::vector<Text> texts, content(token, true));
    for (const Text& text : texts)
      if (!is_reference(text.words.text())) add(text);
    return {};
  }
  // @string/other, ?attr/name
  static bool is_reference(std::string_view text) {
    return (text.starts_with('@') || text.starts_with('?')) && text.find(' ') == std::string_view::npos &&
           text.find('/') != std::string_view::npos;
  }

  bool in_group_ = false, plural_ = false;
  size_t plural_at_ = 0;
  SeenKeys names_;
  std::vector<std::string_view> quantities_;
};

constexpr XmlRoot kAndroidRoot = {"resources", "it has no <resources>, so it holds no texts of an Android app"};

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
  return AndroidReader(bytes, begin, options).read(kAndroidRoot);
}

}  // namespace lapilli::documents
