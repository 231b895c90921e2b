// HTML: the text of an element without block elements in it is a segment; tags among its words are marks.
#include <algorithm>
#include <array>
#include <utility>

#include "documents/character_references.hpp"
#include "documents/html_rows.hpp"
#include "documents/html_tokens.hpp"
#include "documents/kept/marked_parts.hpp"
#include "documents/kinds.hpp"

namespace lapilli::documents {

namespace {

template <size_t N>
using Names = std::array<std::string_view, N>;

// Inline elements. All others, including custom ones, separate.
constexpr Names<36> kInline = {"a",      "abbr",   "acronym", "b",        "bdi",  "bdo",   "big",  "button", "cite",
                               "data",   "del",    "dfn",     "em",       "font", "i",     "ins",  "label",  "mark",
                               "meter",  "nobr",   "output",  "progress", "q",    "s",     "slot", "small",  "span",
                               "strike", "strong", "time",    "tt",       "u",    "blink", "rb",   "rp",     "rt"};
// Their words are part of a sentence and stay as they are.
constexpr Names<7> kKept = {"code", "kbd", "math", "ruby", "samp", "sub", "var"};
// Part of a sentence, up to their end tag, without words for the model.
constexpr Names<8> kOpaque = {"audio", "canvas", "object", "picture", "sup", "svg", "video", "map"};
// The same, without an end tag.
constexpr Names<4> kVoid = {"embed", "img", "input", "wbr"};
// Raw text within a sentence; the title, the other raw element, is a segment.
constexpr Names<4> kRawInline = {"script", "style", "textarea", "iframe"};
// They may hold elements of any kind, so only their own end tag ends them.
constexpr Names<9> kClosed = {"math", "ruby", "audio", "canvas", "object", "picture", "svg", "video", "map"};

// Block elements that the standard names.
constexpr Names<53> kBlocks = {
    "address",  "article", "aside",  "blockquote", "br",     "caption", "center", "col",      "colgroup",
    "dd",       "details", "dialog", "dir",        "div",    "dl",      "dt",     "fieldset", "figcaption",
    "figure",   "footer",  "form",   "h1",         "h2",     "h3",      "h4",     "h5",       "h6",
    "header",   "hgroup",  "hr",     "legend",     "li",     "main",    "menu",   "nav",      "ol",
    "optgroup", "option",  "p",      "pre",        "search", "section", "select", "summary",  "table",
    "tbody",    "td",      "tfoot",  "th",         "thead",  "title",   "tr",     "ul"};

bool is_phrasing(std::string_view name) {
  return is_one_of(kInline, name) || is_one_of(kKept, name) || is_one_of(kOpaque, name) || is_one_of(kVoid, name) ||
         is_one_of(kRawInline, name) || name == "br";
}

constexpr uint32_t key_of(std::string_view name) {
  return static_cast<uint32_t>(std::find(kInline.begin(), kInline.end(), name) - kInline.begin());
}

constexpr std::array kControlKeys = {key_of("a"), key_of("button"), key_of("label")};

class HtmlReader {
 public:
  HtmlReader(std::string_view bytes, size_t begin, bool xml)
      : bytes_(bytes), tokens_(bytes, begin), xml_(xml || bytes.substr(begin).starts_with("<?xml")) {}

  Result<std::vector<Passage>> read() {
    while (error_.empty() && tokens_.next(token_)) {
      while (take_token()) {
      }
    }
    flush();
    if (!error_.empty()) return fail(ErrorCode::unsupported, "%s", error_);
    return std::move(passages_);
  }

 private:
  // True if it read one token too many, which is left in token_.
  bool take_token() {
    switch (token_.type) {
      case HtmlToken::text: add_text(token_.range); break;
      case HtmlToken::raw: add_raw(); break;
      case HtmlToken::start_tag: return start_tag();
      case HtmlToken::end_tag: end_tag(); break;
      case HtmlToken::other: other(); break;
    }
    return false;
  }

  void flush() {
    for (PartBuilder& words : builder_.take_apart(find_row_cuts(builder_.items(), kControlKeys))) {
      Passage passage;
      if (words.finish(passage.parts)) passages_.push_back(std::move(passage));
    }
  }

  void add_text(Range range) {
    size_t begin = range.begin;
    for (size_t at = begin; (at = bytes_.substr(0, range.end).find('&', at)) != std::string_view::npos;) {
      std::string decoded;
      const size_t length = decode_reference(bytes_.substr(at, range.end - at), decoded);
      if (length == 0) {
        ++at;
        continue;
      }
      builder_.words({begin, at}, Range{begin, at}.of(bytes_));
      builder_.words({at, at + length}, decoded);
      begin = at += length;
    }
    builder_.words({begin, range.end}, Range{begin, range.end}.of(bytes_));
  }

  void add_raw() {
    if (raw_name_ == "title")
      add_text(token_.range);
    else
      builder_.point(token_.range);
  }

  void end_tag() {
    if (is_one_of(kInline, token_.name))
      builder_.close(token_.range, key_of(token_.name));
    else if (is_phrasing(token_.name) && token_.name != "br")
      builder_.point(token_.range);
    else
      flush();
  }

  void other() {
    if (passages_.empty() && token_.range.of(bytes_).starts_with("<?xml")) check_xml_charset(token_.range.of(bytes_));
    builder_.point(token_.range);
  }

  bool start_tag() {
    raw_name_ = token_.name;
    if (token_.name == "meta") check_meta_charset();
    const bool closed = xml_ && token_.self_closing;
    const bool alone = closed && is_phrasing(token_.name) && token_.name != "br";
    if (is_one_of(kVoid, token_.name) || is_one_of(kRawInline, token_.name) || alone) {
      builder_.point(token_.range);
    } else if (!closed && is_untranslated()) {
      return skip_element();
    } else if (is_one_of(kInline, token_.name)) {
      builder_.open(token_.range, key_of(token_.name));
    } else {
      flush();
    }
    return false;
  }

  [[nodiscard]] bool is_untranslated() const {
    const bool by_name = token_.name == "pre" || is_one_of(kKept, token_.name) || is_one_of(kOpaque, token_.name);
    return by_name || std::any_of(token_.attributes.begin(), token_.attributes.end(), [&](const HtmlAttribute& a) {
             const std::string value = ascii_lower(a.value.of(bytes_));
             return (a.name == "translate" && value == "no") ||
                    (a.name == "class" && (" " + value + " ").find(" notranslate ") != std::string::npos);
           });
  }

  // Goes to the end of the element that begins with token_. True if a token beyond that end is in token_.
  bool skip_element() {
    const std::string name = token_.name;
    if (is_void_block(name)) return flush(), false;
    const bool phrasing = is_phrasing(name), closed = !phrasing || is_one_of(kClosed, name);
    Range range = token_.range;
    std::string text;
    size_t depth = 1;
    while (depth > 0 && tokens_.next(token_)) {
      if (token_.type == HtmlToken::text) decode(token_.range, text);
      const bool tag = token_.type == HtmlToken::start_tag || token_.type == HtmlToken::end_tag;
      // Code that is never closed ends with its paragraph.
      if (tag && ((!closed && !is_phrasing(token_.name)) || ends_paragraph(name))) return flush(), true;
      if (tag && token_.name == name && !(xml_ && token_.self_closing)) {
        token_.type == HtmlToken::start_tag ? ++depth : --depth;
      }
      range.end = token_.range.end;
    }
    if (!phrasing || depth > 0)
      flush();
    else if (is_one_of(kOpaque, name))
      builder_.point(range);
    else
      builder_.kept(range, text);
    return false;
  }

  // A paragraph without an end tag ends where another block begins or ends.
  [[nodiscard]] bool ends_paragraph(std::string_view name) const {
    return name == "p" && token_.name != "p" && !is_phrasing(token_.name);
  }

  static bool is_void_block(std::string_view name) {
    static constexpr Names<10> kVoidBlocks = {"area", "base", "br",    "col",    "hr",
                                              "link", "meta", "param", "source", "track"};
    return is_one_of(kVoidBlocks, name);
  }

  void decode(Range range, std::string& out) const {
    for (size_t at = range.begin; at < range.end;) {
      const size_t length = decode_reference(Range{at, range.end}.of(bytes_), out);
      if (length == 0) out += bytes_[at];
      at += std::max<size_t>(length, 1);
    }
  }

  // ---- the charset that a document declares ----
  void check_charset(std::string_view name) {
    if (name.empty() || ascii_lower(name) == "utf-8" || ascii_lower(name) == "utf8") return;
    const std::string shown(name.substr(0, std::min<size_t>(name.find_first_not_of(kCharsetLetters), 40)));
    error_ = "the document says that its charset is '" + shown + "': convert it to UTF-8 (iconv -f " + shown +
             " -t UTF-8), and let it say so";
  }

  void check_meta_charset() {
    for (const HtmlAttribute& a : token_.attributes) {
      if (a.name == "charset") check_charset(a.value.of(bytes_));
      if (a.name == "content") check_charset(value_behind(a.value.of(bytes_), "charset="));
    }
  }

  void check_xml_charset(std::string_view declaration) { check_charset(value_behind(declaration, "encoding=")); }

  static std::string_view value_behind(std::string_view text, std::string_view what) {
    const size_t at = ascii_lower(text).find(what);
    if (at == std::string::npos) return {};
    std::string_view value = text.substr(at + what.size());
    value.remove_prefix(std::min(value.find_first_not_of(" \"'"), value.size()));
    return value.substr(0, value.find_first_not_of(kCharsetLetters));
  }

  static constexpr std::string_view kCharsetLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:+";

  std::string_view bytes_;
  HtmlTokens tokens_;
  bool xml_;
  HtmlToken token_;
  std::string raw_name_;  // of the last start tag
  PartBuilder builder_;
  std::vector<Passage> passages_;
  std::string error_;
};

// A no-break space is written as a reference that is visible in the source and also known to XML.
void encode_html(std::string& out, std::string_view text, Range range, bool, const Passage&) {
  for (size_t i = range.begin; i < range.end; ++i) {
    const std::string_view here = text.substr(i, std::min<size_t>(2, range.end - i));
    if (here[0] == '&')
      out += "&amp;";
    else if (here[0] == '<')
      out += "&lt;";
    else if (here[0] == '>')
      out += "&gt;";
    else if (here == "\u00a0")
      out += "&#160;", ++i;
    else
      out += here[0];
  }
}

Result<std::vector<Passage>> without_marked_parts(std::string_view bytes, Result<std::vector<Passage>> passages) {
  if (passages.ok()) leave_marked_parts(bytes, *passages);
  return passages;
}

}  // namespace

bool is_html_block(std::string_view name) { return is_one_of(kBlocks, name); }

const Style kHtmlStyle = {encode_html};

Result<std::vector<Passage>> find_html_passages(std::string_view bytes, size_t begin) {
  return without_marked_parts(bytes, HtmlReader(bytes, begin, false).read());
}

Result<std::vector<Passage>> find_xhtml_passages(std::string_view bytes, size_t begin) {
  return without_marked_parts(bytes, HtmlReader(bytes, begin, true).read());
}

}  // namespace lapilli::documents
