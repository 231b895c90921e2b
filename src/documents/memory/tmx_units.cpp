#include "documents/memory/tmx_units.hpp"

#include <utility>

#include "documents/office/xml_text.hpp"
#include "documents/office/xml_tokens.hpp"

namespace lapilli::documents {

namespace {

class TmxReader {
 public:
  TmxReader(std::string_view bytes, const std::function<void(const std::string&, TmxUnit)>& take)
      : bytes_(bytes), tokens_(bytes, bytes.starts_with("\xef\xbb\xbf") ? 3 : 0), take_(take) {}

  Result<std::string> read() {
    while (true) {
      LAPILLI_TRY(const bool more, tokens_.next(token_));
      if (!more) break;
      if (token_.type == XmlToken::start_tag) LAPILLI_CHECK(begin());
      if (token_.type == XmlToken::end_tag && token_.name == "tu") take_(source_, std::exchange(unit_, {}));
    }
    if (!is_memory_) return fail(ErrorCode::invalid_data, "it is no TMX: no element is called tmx");
    return source_;
  }

 private:
  Status begin() {
    if (token_.name == "tmx") is_memory_ = true;
    if (token_.name == "header") source_ = decode_xml(token_.value("srclang", bytes_));
    if (token_.name == "tu") unit_ = {};
    if (token_.name == "tuv") begin_variant();
    if (token_.name == "seg" && !token_.closed) return segment();
    return {};
  }

  void begin_variant() {
    const std::string_view language = token_.value("xml:lang", bytes_);
    unit_.variants.push_back({decode_xml(language.empty() ? token_.value("lang", bytes_) : language), ""});
  }

  // The text up to the end of the segment; what stands in tags of a program is no text.
  Status segment() {
    const size_t depth = tokens_.depth();
    std::string text;
    while (tokens_.depth() >= depth) {
      LAPILLI_TRY(const bool more, tokens_.next(token_));
      if (!more) break;
      if (token_.type == XmlToken::text) text += decode_xml(token_.range.of(bytes_));
      if (token_.type == XmlToken::cdata) text += token_.inside.of(bytes_);
      if (token_.type == XmlToken::start_tag && token_.name != "hi" && !token_.closed)
        LAPILLI_CHECK(tokens_.skip_element(token_));
    }
    if (!unit_.variants.empty()) unit_.variants.back().text = std::move(text);
    return {};
  }

  std::string_view bytes_;
  XmlTokens tokens_;
  XmlToken token_;
  const std::function<void(const std::string&, TmxUnit)>& take_;
  std::string source_;
  TmxUnit unit_;
  bool is_memory_ = false;
};

}  // namespace

Result<std::string> read_tmx(std::string_view bytes,
                             const std::function<void(const std::string& source, TmxUnit)>& take) {
  return TmxReader(bytes, take).read();
}

}  // namespace lapilli::documents
