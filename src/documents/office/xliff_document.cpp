// XLIFF 1.2 and 2: the sources of units without a translation are segments, and their targets are the places.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "documents/apps/notes.hpp"
#include "documents/office/markup_text.hpp"
#include "documents/office/office_kinds.hpp"
#include "documents/office/xliff_inline.hpp"
#include "documents/office/xliff_messages.hpp"

namespace lapilli::documents {

namespace {

// Elements that are no text of a unit.
constexpr std::array<std::string_view, 8> kAside = {"header", "alt-trans", "note",     "notes",
                                                    "skl",    "skeleton",  "metadata", "matches"};
// A unit with one of these states has no translation that counts.
constexpr std::array<std::string_view, 4> kUntranslated = {"", "new", "needs-translation", "initial"};

// A unit of version 1.2, or a segment of version 2: as far as it is read.
struct Unit {
  XmlToken tag;
  size_t depth = 0;
  bool keeps = false;    // translate="no", or approved
  MarkupText text;       // of the source
  Range source, inside;  // the source's element, and its content
  Range target;          // its element; empty: there is none
  XmlToken target_tag;
  bool has_words = false;  // in the target
};

class XliffReader {
 public:
  XliffReader(std::string_view bytes, size_t begin, const Options& options)
      : bytes_(bytes), options_(options), tokens_(bytes, begin), notes_(bytes) {}

  Result<Found> read() {
    for (;;) {
      LAPILLI_TRY(const bool more, tokens_.next(token_));
      if (!more) break;
      const XmlToken::Type type = token_.type;  // start_tag() reads on
      if (type == XmlToken::start_tag) LAPILLI_CHECK(start_tag());
      if (type == XmlToken::end_tag) end_tag();
    }
    if (!seen_) return fail(ErrorCode::invalid_data, "the file has no <xliff> element: it is no XLIFF document");
    found_.notes = notes_.sentences();
    return std::move(found_);
  }

 private:
  // ---- elements around units ----
  Status start_tag() {
    const std::string_view name = local_name(token_.name);
    if (is_one_of(kAside, name)) return tokens_.skip_element(token_);
    if (name == "xliff") root();
    if (name == "file" && !second_) name_target_language("target-language");
    if (name == (second_ ? "segment" : "trans-unit")) begin_unit();
    if (name == "source" || name == "seg-source") return source();
    if (name == "target") return target();
    if (token_.closed) return {};
    const std::string_view says = token_.value("translate", bytes_);
    keeps_.push_back(says.empty() ? !keeps_.empty() && keeps_.back() : says == "no");
    return {};
  }

  void end_tag() {
    if (!keeps_.empty()) keeps_.pop_back();
    if (unit_.depth > 0 && tokens_.depth() < unit_.depth) end_unit();
  }

  void root() {
    seen_ = true;
    second_ = token_.value("version", bytes_).starts_with('2');
    if (second_) name_target_language("trgLang");
  }

  void name_target_language(std::string_view attribute) {
    if (const auto edit = filled_attribute(token_, attribute, options_.target_language)) found_.edits.push_back(*edit);
  }

  // ---- a unit ----
  void begin_unit() {
    unit_ = Unit();
    unit_.tag = token_;
    unit_.depth = token_.closed ? 0 : tokens_.depth();
    const std::string_view says = token_.value("translate", bytes_);
    unit_.keeps = says.empty() ? !keeps_.empty() && keeps_.back() : says == "no";
    unit_.keeps |= token_.value("approved", bytes_) == "yes";
  }

  Status source() {
    const bool ours = unit_.depth > 0 && !token_.closed && tokens_.depth() == unit_.depth + 1;
    if (!ours) return tokens_.skip_element(token_);
    const size_t begin = token_.range.begin, inside = token_.range.end;
    unit_.text = MarkupText();
    LAPILLI_CHECK(read_xliff_content(bytes_, tokens_, token_, unit_.text));
    unit_.source = {begin, token_.range.end};
    unit_.inside = {inside, token_.range.begin};
    return {};
  }

  Status target() {
    const bool ours = unit_.depth > 0 && tokens_.depth() == unit_.depth + (token_.closed ? 0 : 1);
    if (!ours) return tokens_.skip_element(token_);
    unit_.target_tag = token_;
    unit_.target = token_.range;
    LAPILLI_CHECK(tokens_.skip_element(token_));
    unit_.target.end = token_.range.end;
    const Range inside{unit_.target_tag.range.end, token_.range.begin};
    unit_.has_words = std::any_of(inside.of(bytes_).begin(), inside.of(bytes_).end(),
                                  [](char c) { return !is_blank(static_cast<unsigned char>(c)); });
    return {};
  }

  void end_unit() {
    Unit unit = std::exchange(unit_, Unit());
    const std::string_view state = second_ ? unit.tag.value("state", bytes_) : unit.target_tag.value("state", bytes_);
    // An empty state says nothing: then words in the target are a translation.
    const bool done = unit.has_words && (state.empty() || !is_one_of(kUntranslated, state));
    if (unit.keeps || (done && !options_.all) || unit.source.empty()) return;
    std::vector<Passage> passages = is_xliff_message(bytes_, unit.inside) ? cases_of(unit) : passages_of(unit.text);
    if (passages.empty()) return;
    second_ ? place_in_segment(unit, passages) : place_in_unit(unit, passages);
    std::move(passages.begin(), passages.end(), std::back_inserter(found_.passages));
  }

  [[nodiscard]] std::vector<Passage> cases_of(const Unit& unit) {
    XliffMessage message = read_xliff_message(bytes_, unit.inside, options_.target_language);
    for (const std::string& note : message.notes) notes_.add(unit.inside.begin, note);
    return std::move(message.passages);
  }

  // ---- the target that is written ----
  [[nodiscard]] std::string prefix_of(const Unit& unit) const {
    const size_t colon = unit.tag.name.find(':');
    return colon == std::string_view::npos ? "" : std::string(unit.tag.name.substr(0, colon + 1));
  }

  // White space in front of the source, which a new target gets, too.
  [[nodiscard]] std::string_view indent_of(const Unit& unit) const {
    size_t begin = unit.source.begin;
    while (begin > 0 && is_blank(static_cast<unsigned char>(bytes_[begin - 1]))) --begin;
    return Range{begin, unit.source.begin}.of(bytes_);
  }

  // A start tag with another state, which may be new.
  [[nodiscard]] std::string with_state(const XmlToken& tag, std::string_view state) const {
    const Range whole{tag.range.begin, tag.range.end - (tag.closed ? 2 : 1)};
    const std::string_view text = whole.of(bytes_);
    std::string out;
    if (const XmlAttribute* there = tag.attribute("state")) {
      out = std::string(Range{whole.begin, there->value.begin}.of(bytes_)) + std::string(state);
      out += Range{there->value.end, whole.end}.of(bytes_);
    } else {
      out = std::string(text.substr(0, text.find_last_not_of(" \t\r\n") + 1)) + " state=\"" + std::string(state) + "\"";
    }
    return out + ">";
  }

  void put(const Unit& unit, std::vector<Passage>& passages, Range place, const std::string& begin) const {
    put_beside(passages, bytes_, unit.inside, place, begin, "</" + prefix_of(unit) + "target>");
  }

  // Translation tools show this state as a text to be looked at.
  void place_in_unit(const Unit& unit, std::vector<Passage>& passages) const {
    const std::string made = options_.fuzzy ? "needs-review-translation" : "translated";
    const std::string added = std::string(indent_of(unit)) + "<" + prefix_of(unit) + "target state=\"" + made + "\">";
    if (unit.target.empty())
      put(unit, passages, {unit.source.end, unit.source.end}, added);
    else
      put(unit, passages, unit.target, with_state(unit.target_tag, made));
  }

  // In version 2 the segment has the state, so its tag is written with the target.
  void place_in_segment(const Unit& unit, std::vector<Passage>& passages) const {
    const bool there = !unit.target.empty();
    std::string begin = with_state(unit.tag, "translated");
    begin += Range{unit.tag.range.end, there ? unit.target.begin : unit.source.end}.of(bytes_);
    if (!there) begin += std::string(indent_of(unit)) + "<" + prefix_of(unit) + "target>";
    if (there) begin += opened_tag(bytes_, unit.target_tag);
    put(unit, passages, {unit.tag.range.begin, there ? unit.target.end : unit.source.end}, begin);
  }

  std::string_view bytes_;
  const Options& options_;
  XmlTokens tokens_;
  XmlToken token_;
  Found found_;
  Unit unit_;
  std::vector<bool> keeps_;  // for each open element: its words stay
  bool seen_ = false, second_ = false;
  Notes notes_;
};

}  // namespace

Result<Found> find_xliff_passages(std::string_view bytes, size_t begin, const Options& options) {
  return XliffReader(bytes, begin, options).read();
}

}  // namespace lapilli::documents
