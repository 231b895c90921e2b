// TTML: the text of a <p> is a segment, or a share of one whose sentence goes on in the next; times and styles stay.
#include <utility>

#include "documents/lines.hpp"
#include "documents/office/office_kinds.hpp"

namespace lapilli::documents {

namespace {

class TtmlReader {
 public:
  TtmlReader(std::string_view bytes, size_t begin) : bytes_(bytes), tokens_(bytes, begin) {}

  Result<Found> read() {
    for (;;) {
      LAPILLI_TRY(const bool more, tokens_.next(token_));
      if (!more) break;
      LAPILLI_CHECK(take_token());
    }
    if (!seen_) return fail(ErrorCode::invalid_data, "the file has no <tt> element: it is no TTML document");
    return std::move(found_);
  }

 private:
  Status take_token() {
    const bool inside = paragraph_ > 0;
    if (inside) settle_break();
    switch (token_.type) {
      case XmlToken::start_tag: return start_tag(local_name(token_.name));
      case XmlToken::end_tag: end_tag(); break;
      case XmlToken::text:
      case XmlToken::cdata:
        if (inside) add_text();
        break;
      default:
        if (inside) builder_.point(token_.range);
    }
    return {};
  }

  Status start_tag(std::string_view name) {
    seen_ |= name == "tt";
    if (name == "metadata" || name == "head") {
      const size_t begin = token_.range.begin;
      LAPILLI_CHECK(tokens_.skip_element(token_));
      if (paragraph_ > 0) builder_.point({begin, token_.range.end});
    } else if (paragraph_ == 0) {
      if (name == "p" && !token_.closed) paragraph_ = tokens_.depth();
    } else if (name == "br") {
      return line_break();
    } else if (token_.closed) {
      builder_.point(token_.range);
    } else {
      builder_.open(token_.range, 0);
    }
    return {};
  }

  Status line_break() {
    const size_t begin = token_.range.begin;
    LAPILLI_CHECK(tokens_.skip_element(token_));
    break_ = {begin, token_.range.end};
    return {};
  }

  // A break between words is a line's end; beside a tag or another break it stands where it stands.
  void settle_break() {
    if (break_.empty()) return;
    const bool words = token_.type == XmlToken::text && !is_blank_line(token_.range.of(bytes_));
    words&& has_words_ ? builder_.line(break_) : builder_.point(break_);
    break_ = {};
    has_words_ = false;
  }

  void add_text() {
    add_xml_text(builder_, bytes_, token_);
    has_words_ |= !is_blank_line(token_.inside.of(bytes_));
  }

  void end_tag() {
    if (paragraph_ == 0) return;
    if (tokens_.depth() >= paragraph_) return builder_.close(token_.range, 0);
    paragraph_ = 0;
    has_words_ = false;
    Passage passage;
    if (builder_.finish(passage.parts)) found_.passages.push_back(std::move(passage));
  }

  std::string_view bytes_;
  XmlTokens tokens_;
  XmlToken token_;
  PartBuilder builder_;
  Found found_;
  Range break_;             // the last token was a break; it is not in the builder yet
  bool has_words_ = false;  // since the last break
  size_t paragraph_ = 0;    // depth of the <p> that is read; 0: none
  bool seen_ = false;
};

}  // namespace

Result<Found> find_ttml_passages(std::string_view bytes, size_t begin, const Options&) {
  return TtmlReader(bytes, begin).read();
}

}  // namespace lapilli::documents
