// Qt's .ts: the sources of messages without a translation are segments. A counted message has a passage for each form
// of its translation, all with the same source.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "documents/office/markup_text.hpp"
#include "documents/office/office_kinds.hpp"

namespace lapilli::documents {

namespace {

struct FormCount {
  std::string_view languages;  // each with blanks around it
  size_t forms;
};
// As lupdate counts; all others have two.
constexpr std::array kFormCounts = {FormCount{" ja zh ko vi th id ms my lo bo dz fa hu jv ka km kn tr yo ", 1},
                                    FormCount{" ru uk be pl cs sk sr hr bs lt lv ro mk ga ", 3},
                                    FormCount{" sl gd mt ", 4}, FormCount{" cy ", 5}, FormCount{" ar ", 6}};

size_t count_forms(const std::string& language) {
  const std::string name = " " + ascii_lower(language.substr(0, language.find_first_of("-_"))) + " ";
  for (const FormCount& count : kFormCounts)
    if (count.languages.find(name) != std::string_view::npos) return count.forms;
  return 2;
}

bool has_only_blanks(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return is_blank(static_cast<unsigned char>(c)); });
}

struct Message {
  size_t depth = 0;  // 0: the reader is in no message
  bool counted = false;
  Range source, inside;      // the source's element, and its content
  XmlToken translation;      // its start tag; an empty range if there is none
  Range translated;          // its content
  std::vector<Range> forms;  // the contents of its forms, all empty
  bool has_words = false;    // in the translation
};

class QtReader {
 public:
  QtReader(std::string_view bytes, size_t begin, const Options& options)
      : bytes_(bytes), options_(options), tokens_(bytes, begin) {}

  Result<Found> read() {
    for (;;) {
      LAPILLI_TRY(const bool more, tokens_.next(token_));
      if (!more) break;
      const XmlToken::Type type = token_.type;  // start_tag() reads on
      if (type == XmlToken::start_tag) LAPILLI_CHECK(start_tag());
      if (type == XmlToken::end_tag && message_.depth > tokens_.depth()) end_message();
    }
    if (!seen_) return fail(ErrorCode::invalid_data, "the file has no <TS> element: it is none of Qt's translations");
    return std::move(found_);
  }

 private:
  Status start_tag() {
    if (token_.name == "TS") root();
    if (token_.name == "message") begin_message();
    const bool ours = message_.depth > 0 && tokens_.depth() == message_.depth + (token_.closed ? 0 : 1);
    if (ours && token_.name == "source") return source();
    if (ours && token_.name == "translation") return translation();
    return {};
  }

  // Qt writes languages as "pt_BR".
  void root() {
    seen_ = true;
    std::string language = options_.target_language;
    std::replace(language.begin(), language.end(), '-', '_');
    if (const auto edit = filled_attribute(token_, "language", language)) found_.edits.push_back(*edit);
  }

  void begin_message() {
    message_ = Message();
    if (token_.closed) return;
    message_.depth = tokens_.depth();
    message_.counted = token_.value("numerus", bytes_) == "yes";
  }

  Status source() {
    if (token_.closed) return {};
    message_.source.begin = token_.range.begin;
    message_.inside.begin = token_.range.end;
    LAPILLI_CHECK(tokens_.skip_element(token_));
    message_.inside.end = token_.range.begin;
    message_.source.end = token_.range.end;
    return {};
  }

  Status translation() {
    message_.translation = token_;
    message_.translated = {token_.range.end, token_.range.end};
    if (token_.closed) return {};
    const size_t outside = tokens_.depth() - 1;
    while (tokens_.depth() > outside) {
      LAPILLI_TRY(const bool more, tokens_.next(token_));
      if (!more) break;
      LAPILLI_CHECK(translation_token());
    }
    message_.translated.end = token_.range.begin;
    return {};
  }

  Status translation_token() {
    if (token_.type == XmlToken::start_tag && token_.name == "numerusform" && !token_.closed) {
      const size_t begin = token_.range.end;
      LAPILLI_CHECK(tokens_.skip_element(token_));
      message_.forms.push_back({begin, token_.range.begin});
      message_.has_words |= !has_only_blanks(message_.forms.back().of(bytes_));
    } else {
      message_.has_words |= token_.type == XmlToken::start_tag || token_.type == XmlToken::cdata ||
                            (token_.type == XmlToken::text && !has_only_blanks(token_.range.of(bytes_)));
    }
    return {};
  }

  // ---- the passages of a message ----
  void end_message() {
    const Message message = std::exchange(message_, Message());
    const std::string_view type = message.translation.value("type", bytes_);
    if (message.source.empty() || (message.has_words && !options_.all) || type == "vanished" || type == "obsolete")
      return;
    if (message.counted)
      place_forms(message);
    else
      place_text(message);
  }

  bool add(const Message& message, Range place, const std::string& before, const std::string& after) {
    MarkupText text;
    add_words(text, message.inside);
    std::vector<Passage> passages = passages_of(text);
    if (passages.empty()) return false;
    put_beside(passages, bytes_, message.inside, place, before, after);
    std::move(passages.begin(), passages.end(), std::back_inserter(found_.passages));
    return true;
  }

  // Bytes that XML has no letter for stand as <byte value="x7"/>.
  void add_words(MarkupText& text, Range range) {
    while (!range.empty()) {
      const size_t tag = std::min(bytes_.find('<', range.begin), range.end);
      add_markup_text(text, bytes_, {range.begin, tag}, true);
      const size_t end = std::min(bytes_.find('>', tag), range.end - 1) + 1;
      if (tag < range.end) text.words.point({tag, end});
      range.begin = tag < range.end ? end : tag;
    }
  }

  void place_text(const Message& message) {
    const XmlToken& tag = message.translation;
    if (tag.range.empty())
      add(message, {message.source.end, message.source.end}, "<translation type=\"unfinished\">", "</translation>");
    else if (tag.closed)
      add(message, tag.range, opened_tag(bytes_, tag), "</translation>");
    else
      add(message, message.translated, "", "");
  }

  void place_forms(const Message& message) {
    const XmlToken& tag = message.translation;
    if (tag.range.empty()) return;
    for (const Range form : message.forms) add(message, form, "", "");
    if (!message.forms.empty()) return;
    const size_t count = count_forms(options_.target_language), at = tag.range.end;
    size_t added = 0;
    while (added < count && add(message, {at, at}, "<numerusform>", "</numerusform>")) ++added;
    if (added == 0 || !tag.closed) return;
    found_.edits.push_back({{at - 2, at}, ">"});
    found_.passages.back().trail = "</translation>";
  }

  std::string_view bytes_;
  const Options& options_;
  XmlTokens tokens_;
  XmlToken token_;
  Found found_;
  Message message_;
  bool seen_ = false;
};

}  // namespace

Result<Found> find_qt_passages(std::string_view bytes, size_t begin, const Options& options) {
  return QtReader(bytes, begin, options).read();
}

}  // namespace lapilli::documents
