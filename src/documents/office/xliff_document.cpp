// XLIFF 1.2 and 2: the sources of units without a translation are segments, and their targets are the places.
#include <algorithm>
#include <array>
#include <utility>

#include "documents/apps/icu.hpp"
#include "documents/office/markup_text.hpp"
#include "documents/office/office_kinds.hpp"

namespace lapilli::documents {

namespace {

bool is_among(const auto& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Elements that are no text of a unit.
constexpr std::array<std::string_view, 8> kAside = {"header", "alt-trans", "note",     "notes",
                                                    "skl",    "skeleton",  "metadata", "matches"};
// Pairs, whose content is text.
constexpr std::array<std::string_view, 3> kPairs = {"g", "pc", "mrk"};
// Their content is markup: it begins a pair, ends one, or stands alone. The pair of bx and ex, too, is in two halves.
constexpr std::array<std::string_view, 4> kBegins = {"bpt", "bx", "sc", "sm"}, kEnds = {"ept", "ex", "ec", "em"};
// A unit with one of these states has no translation that counts.
constexpr std::array<std::string_view, 4> kUntranslated = {"", "new", "needs-translation", "initial"};

// A unit of version 1.2, or a segment of version 2: as far as it is read.
struct Unit {
  XmlToken tag;
  size_t depth = 0;
  bool keeps = false;    // translate="no", or approved
  PartBuilder words;     // of the source
  Range source, inside;  // the source's element, and its content
  Range target;          // its element; empty: there is none
  XmlToken target_tag;
  bool has_words = false;  // in the target
  bool icu = false;
};

class XliffReader {
 public:
  XliffReader(std::string_view bytes, size_t begin, const Options& options)
      : bytes_(bytes), options_(options), tokens_(bytes, begin) {}

  Result<Found> read() {
    for (;;) {
      LAPILLI_TRY(const bool more, tokens_.next(token_));
      if (!more) break;
      const XmlToken::Type type = token_.type;  // start_tag() reads on
      if (type == XmlToken::start_tag) LAPILLI_CHECK(start_tag());
      if (type == XmlToken::end_tag) end_tag();
    }
    if (!seen_) return fail(ErrorCode::invalid_data, "the file has no <xliff> element: it is no XLIFF document");
    if (icu_ > 0) found_.notes.push_back(format("texts with ICU's cases ({n, plural, ...}) are left alone: %u", icu_));
    return std::move(found_);
  }

 private:
  // ---- elements around units ----
  Status start_tag() {
    const std::string_view name = local_name(token_.name);
    if (is_among(kAside, name)) return tokens_.skip_element(token_);
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

  void name_target_language(const std::string& attribute) {
    if (options_.target_language.empty()) return;
    const XmlAttribute* there = token_.attribute(attribute);
    if (there && !there->value.empty()) return;
    std::string language;
    append_xml(language, options_.target_language);
    const size_t behind_name = token_.range.begin + 1 + token_.name.size();
    if (there)
      found_.edits.push_back({there->value, language});
    else
      found_.edits.push_back({{behind_name, behind_name}, " " + attribute + "=\"" + language + "\""});
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
    unit_.words = PartBuilder();
    unit_.icu = false;
    LAPILLI_CHECK(inline_content());
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
    const bool done = unit.has_words && (state.empty() || !is_among(kUntranslated, state));
    if (unit.keeps || (done && !options_.all) || unit.source.empty()) return;
    if (unit.icu) {
      ++icu_;
      return;
    }
    Passage passage;
    if (!unit.words.finish(passage.parts)) return;
    second_ ? place_in_segment(unit, passage) : place_in_unit(unit, passage);
    found_.passages.push_back(std::move(passage));
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

  void around(const Unit& unit, Passage& passage, const std::string& begin) {
    const Part& part = passage.parts.front();
    passage.before = begin + std::string(range_before(unit.inside, part).of(bytes_));
    passage.after = std::string(range_behind(unit.inside, part).of(bytes_)) + "</" + prefix_of(unit) + "target>";
  }

  // Translation tools show this state as a text to be looked at.
  void place_in_unit(const Unit& unit, Passage& passage) {
    const std::string made = options_.fuzzy ? "needs-review-translation" : "translated";
    if (unit.target.empty()) {
      passage.place = Range{unit.source.end, unit.source.end};
      around(unit, passage, std::string(indent_of(unit)) + "<" + prefix_of(unit) + "target state=\"" + made + "\">");
    } else {
      passage.place = unit.target;
      around(unit, passage, with_state(unit.target_tag, made));
    }
  }

  // In version 2 the segment has the state, so its tag is written with the target.
  void place_in_segment(const Unit& unit, Passage& passage) {
    const bool there = !unit.target.empty();
    passage.place = Range{unit.tag.range.begin, there ? unit.target.end : unit.source.end};
    std::string begin = with_state(unit.tag, "translated");
    begin += Range{unit.tag.range.end, there ? unit.target.begin : unit.source.end}.of(bytes_);
    if (!there) begin += std::string(indent_of(unit)) + "<" + prefix_of(unit) + "target>";
    if (there) begin += opened(unit.target_tag);
    around(unit, passage, begin);
  }

  [[nodiscard]] std::string opened(const XmlToken& tag) const {
    const Range whole{tag.range.begin, tag.range.end - (tag.closed ? 2 : 1)};
    return std::string(whole.of(bytes_)) + ">";
  }

  // ---- inline elements ----
  // Reads to the end of the element that token_ begins.
  Status inline_content() {
    const size_t outside = tokens_.depth() - 1;
    while (tokens_.depth() > outside) {
      LAPILLI_TRY(const bool more, tokens_.next(token_));
      if (!more) break;
      LAPILLI_CHECK(inline_token(outside));
    }
    return {};
  }

  Status inline_token(size_t outside) {
    switch (token_.type) {
      case XmlToken::text:
        unit_.icu |= is_icu_message(token_.range.of(bytes_));
        add_markup_text(unit_.words, bytes_, token_.range, false);
        break;
      case XmlToken::cdata: add_xml_text(unit_.words, bytes_, token_); break;
      case XmlToken::start_tag: return inline_tag();
      case XmlToken::end_tag:
        if (tokens_.depth() > outside) unit_.words.close(token_.range, 0);
        break;
      default: unit_.words.point(token_.range);
    }
    return {};
  }

  Status inline_tag() {
    const std::string_view name = local_name(token_.name);
    const bool keeps = token_.value("translate", bytes_) == "no" || token_.value("mtype", bytes_) == "protected";
    if (is_among(kPairs, name) && !keeps) {
      token_.closed ? unit_.words.point(token_.range) : unit_.words.open(token_.range, 0);
      return {};
    }
    const XmlToken tag = token_;
    std::string text = keeps ? std::string() : std::string(equivalent(tag));
    LAPILLI_CHECK(skip_with_text(keeps, text));
    add_whole(tag, {tag.range.begin, token_.range.end}, name, text);
    return {};
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
    if (is_among(kBegins, name))
      unit_.words.open(whole, pair_key(tag));
    else if (is_among(kEnds, name))
      unit_.words.close(whole, pair_key(tag));
    else if (name == "x" && id.starts_with(kStart))
      unit_.words.open(whole, key_of_name(id.substr(kStart.size())));
    else if (name == "x" && id.starts_with(kClose))
      unit_.words.close(whole, key_of_name(id.substr(kClose.size())));
    else
      unit_.words.kept(whole, text);
  }

  // The two halves share rid or, without one, the id; in version 2 the end names its start.
  [[nodiscard]] uint32_t pair_key(const XmlToken& tag) const {
    for (const char* attribute : {"rid", "startRef", "id"})
      if (const auto value = tag.value(attribute, bytes_); !value.empty()) return key_of_name(value);
    return key_of_name("");
  }

  std::string_view bytes_;
  const Options& options_;
  XmlTokens tokens_;
  XmlToken token_;
  Found found_;
  Unit unit_;
  std::vector<bool> keeps_;  // for each open element: its words stay
  bool seen_ = false, second_ = false;
  size_t icu_ = 0;
};

}  // namespace

Result<Found> find_xliff_passages(std::string_view bytes, size_t begin, const Options& options) {
  return XliffReader(bytes, begin, options).read();
}

}  // namespace lapilli::documents
