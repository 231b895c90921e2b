#include "documents/office/xliff_inline.hpp"

#include <array>

#include "documents/office/markup_text.hpp"

namespace lapilli::documents {

namespace {

constexpr std::array<std::string_view, 3> kXliffPairs = {"g", "pc", "mrk"};
// Their content is markup: it begins a pair, ends one, or stands alone. The pair of bx and ex, too, is in two halves.
constexpr std::array<std::string_view, 4> kBegins = {"bpt", "bx", "sc", "sm"}, kEnds = {"ept", "ex", "ec", "em"};

class XliffInline {
 public:
  XliffInline(std::string_view bytes, XmlTokens& tokens, XmlToken& token, std::span<const Range> kept, MarkupText& text)
      : bytes_(bytes), tokens_(tokens), token_(token), kept_(kept), text_(text), words_(text.words) {}

  // Reads to the end of an element, or of all tokens: `outside` elements are then around the next one.
  Status read(size_t outside) {
    do {
      LAPILLI_TRY(const bool more, tokens_.next(token_));
      if (!more) break;
      LAPILLI_CHECK(take(outside));
    } while (tokens_.depth() >= outside);
    return {};
  }

 private:
  Status take(size_t within) {
    switch (token_.type) {
      case XmlToken::text: add_text(token_.range); break;
      case XmlToken::cdata: add_xml_text(words_, bytes_, token_); break;
      case XmlToken::start_tag: return tag();
      case XmlToken::end_tag:
        if (tokens_.depth() >= within) words_.close(token_.range, 0);
        break;
      default: words_.point(token_.range);
    }
    return {};
  }

  void add_text(Range text) {
    for (; !kept_.empty() && kept_.front().begin < text.end; kept_ = kept_.subspan(1)) {
      const Range kept = kept_.front();
      if (kept.begin < text.begin) continue;
      add_markup_text(text_, bytes_, {text.begin, kept.begin}, false);
      words_.kept(kept, decode_xml(kept.of(bytes_)));
      text.begin = kept.end;
    }
    add_markup_text(text_, bytes_, text, false);
  }

  Status tag() {
    const std::string_view name = local_name(token_.name);
    const bool keeps = token_.value("translate", bytes_) == "no" || token_.value("mtype", bytes_) == "protected";
    if (is_xliff_pair(name) && !keeps) {
      token_.closed ? words_.point(token_.range) : words_.open(token_.range, 0);
      return {};
    }
    const XmlToken tag = token_;
    if (breaks_line(tag)) text_.divide();
    std::string text = keeps ? std::string() : std::string(equivalent(tag));
    LAPILLI_CHECK(skip_with_text(keeps, text));
    add_whole(tag, {tag.range.begin, token_.range.end}, name, text);
    return {};
  }

  // As editors and Angular write <br>.
  [[nodiscard]] bool breaks_line(const XmlToken& tag) const {
    constexpr std::string_view kBreak = "LINE_BREAK";
    return tag.value("ctype", bytes_) == "lb" || tag.value("subType", bytes_) == "xlf:lb" ||
           tag.value("id", bytes_).starts_with(kBreak) || tag.value("equiv", bytes_).starts_with(kBreak);
  }

  // To the end of the element; its text is added to `text` if that is wanted.
  Status skip_with_text(bool wanted, std::string& text) {
    if (token_.closed) return {};
    const size_t outside = tokens_.depth() - 1;
    while (tokens_.depth() > outside) {
      LAPILLI_TRY(const bool more, tokens_.next(token_));
      if (!more) break;
      if (wanted && token_.type == XmlToken::text) text += decode_xml(token_.range.of(bytes_));
    }
    return {};
  }

  // The element's stand-in in a sentence: "{{name}}", but no tag.
  [[nodiscard]] std::string equivalent(const XmlToken& tag) const {
    const std::string_view first = tag.value("equiv-text", bytes_), second = tag.value("equiv", bytes_);
    const std::string text = decode_xml(first.empty() ? second : first);
    const bool words = text.find('<') == std::string::npos && find_invalid_utf8(text) == std::nullopt;
    return words && text.starts_with('{') ? text : "";
  }

  void add_whole(const XmlToken& tag, Range whole, std::string_view name, const std::string& text) {
    constexpr std::string_view kStart = "START_", kClose = "CLOSE_";  // Angular's names of tags
    const std::string_view id = tag.value("id", bytes_);
    if (is_one_of(kBegins, name))
      words_.open(whole, pair_key(tag));
    else if (is_one_of(kEnds, name))
      words_.close(whole, pair_key(tag));
    else if (name == "x" && id.starts_with(kStart))
      words_.open(whole, key_of_name(id.substr(kStart.size())));
    else if (name == "x" && id.starts_with(kClose))
      words_.close(whole, key_of_name(id.substr(kClose.size())));
    else
      words_.kept(whole, text);
  }

  // The two halves share rid or, without one, the id; in version 2 the end names its start.
  [[nodiscard]] uint32_t pair_key(const XmlToken& tag) const {
    for (const char* attribute : {"rid", "startRef", "id"})
      if (const auto value = tag.value(attribute, bytes_); !value.empty()) return key_of_name(value);
    return key_of_name("");
  }

  std::string_view bytes_;
  XmlTokens& tokens_;
  XmlToken& token_;
  std::span<const Range> kept_;
  MarkupText& text_;
  PartBuilder& words_;
};

}  // namespace

Status read_xliff_content(std::string_view bytes, XmlTokens& tokens, XmlToken& token, MarkupText& text) {
  return XliffInline(bytes, tokens, token, {}, text).read(tokens.depth());
}

Status read_xliff_part(std::string_view bytes, Range part, std::span<const Range> kept, MarkupText& text) {
  const std::string_view all = bytes.substr(0, part.end);
  XmlTokens tokens(all, part.begin);
  XmlToken token;
  return XliffInline(all, tokens, token, kept, text).read(0);
}

bool is_xliff_pair(std::string_view name) { return is_one_of(kXliffPairs, name); }

}  // namespace lapilli::documents
