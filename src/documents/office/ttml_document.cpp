// TTML: the text of a <p> is a segment, or a share of one whose sentence goes on in the next; times and styles stay.
#include <utility>

#include "documents/cue_text.hpp"
#include "documents/lines.hpp"
#include "documents/office/office_kinds.hpp"
#include "documents/office/ttml_times.hpp"

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
    return Found{join_sentences(std::move(speeches_)), {}, {}};
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
    if (name == "tt") root();
    if (name == "div") ++division_;
    if (name == "metadata" || name == "head") {
      const size_t begin = token_.range.begin;
      LAPILLI_CHECK(tokens_.skip_element(token_));
      if (paragraph_ > 0) builder_.point({begin, token_.range.end});
    } else if (paragraph_ == 0) {
      if (name == "p" && !token_.closed) begin_paragraph();
    } else if (name == "br") {
      return line_break();
    } else if (token_.closed) {
      builder_.point(token_.range);
    } else {
      builder_.open(token_.range, 0);
    }
    return {};
  }

  void root() {
    seen_ = true;
    rates_.frames = ttml_rate(said("frameRate"), rates_.frames);
    rates_.ticks = ttml_rate(said("tickRate"), rates_.ticks);
  }

  // The value of an attribute with any prefix.
  [[nodiscard]] std::string_view said(std::string_view name) const {
    for (const XmlAttribute& a : token_.attributes)
      if (local_name(a.name) == name) return a.value.of(bytes_);
    return {};
  }

  // Another region, agent or division is another speaker.
  void begin_paragraph() {
    paragraph_ = tokens_.depth();
    time_ = ttml_timing(said("begin"), said("end"), said("dur"), rates_);
    const Look look{said("region"), said("agent"), division_};
    new_speaker_ = look != look_;
    look_ = look;
    ++cue_;
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
    if (token_.type == XmlToken::text && !has_words_) skip_dash();
    add_xml_text(builder_, bytes_, token_);
    has_words_ |= !is_blank_line(token_.inside.of(bytes_));
  }

  // A dash at the beginning of a line is another speaker's; a sentence may begin with a negative number.
  void skip_dash() {
    const std::string_view text = token_.range.of(bytes_);
    size_t at = 0;
    while (at < text.size() && is_blank(static_cast<unsigned char>(text[at]))) ++at;
    if (at == text.size() || !is_dash(next_character(text, at))) return;
    if (at < text.size() && is_ascii_digit(static_cast<unsigned char>(text[at]))) return;
    speak();
    new_speaker_ = true;
    token_.range.begin += at;
  }

  void end_tag() {
    if (paragraph_ == 0) return;
    if (tokens_.depth() >= paragraph_) return builder_.close(token_.range, 0);
    paragraph_ = 0;
    has_words_ = false;
    speak();
    if (!speeches_.empty()) speeches_.back().last_in_cue = speeches_.back().cue == cue_;
  }

  void speak() {
    std::vector<Part> part;
    if (!builder_.finish(part)) return;
    const std::string& text = part.front().text;
    const bool song = text.find("\u266a") != std::string::npos || text.find("\u266b") != std::string::npos;
    speeches_.push_back({std::move(part.front()), cue_, time_, false, new_speaker_, false, song, false});
    new_speaker_ = false;
  }

  std::string_view bytes_;
  XmlTokens tokens_;
  XmlToken token_;
  PartBuilder builder_;
  std::vector<Speech> speeches_;
  TtmlRates rates_;
  struct Look {
    std::string_view region, agent;
    size_t division = 0;
    bool operator==(const Look&) const = default;
  } look_;
  Timing time_;  // of the paragraph
  size_t division_ = 0, cue_ = 0;
  bool new_speaker_ = false;
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
