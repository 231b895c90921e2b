#include "documents/office/xliff_messages.hpp"

#include <algorithm>
#include <utility>

#include "documents/apps/icu.hpp"
#include "documents/apps/messages.hpp"
#include "documents/office/xliff_inline.hpp"
#include "documents/plurals.hpp"

namespace lapilli::documents {

namespace {

constexpr char kHidden = 'x';  // in the place of markup, so that bytes have the same places

void hide(std::string& text, Range range) {
  std::fill(text.begin() + static_cast<ptrdiff_t>(range.begin), text.begin() + static_cast<ptrdiff_t>(range.end),
            kHidden);
}

// An apostrophe that is written as a reference stands at the reference's end.
void hide_references(std::string& text, Range range) {
  const std::string before = std::string(range.of(text));
  for (size_t at = before.find('&'); at != std::string::npos; at = before.find('&', at + 1)) {
    const size_t end = before.find(';', at);
    if (end == std::string::npos) return;
    const bool quote = decode_xml(Range{at, end + 1}.of(before)) == "'";
    hide(text, {range.begin + at, range.begin + end + 1});
    if (quote) text[range.begin + end] = '\'';
    at = end;
  }
}

// The message without its markup: ICU's syntax alone, in its places in the content.
std::string syntax_of(std::string_view bytes, Range inside) {
  std::string text(inside.of(bytes));
  XmlTokens tokens(text, 0);
  std::string syntax = text;
  XmlToken token;
  for (auto more = tokens.next(token); more && *more; more = tokens.next(token)) {
    const size_t begin = token.range.begin;
    const bool pair = token.type == XmlToken::end_tag || is_xliff_pair(local_name(token.name));
    if (token.type == XmlToken::text) {
      hide_references(syntax, token.range);
      continue;
    }
    if (token.type == XmlToken::start_tag && !pair && !tokens.skip_element(token)) break;
    hide(syntax, {begin, token.range.end});
  }
  return syntax;
}

class XliffCases {
 public:
  XliffCases(std::string_view bytes, Range inside)
      : bytes_(bytes), inside_(inside), syntax_(syntax_of(bytes, inside)) {}

  XliffMessage read(std::string_view target_language) {
    const IcuMessage message = read_icu_message(syntax_);
    if (!message.error.empty()) return refused(message.error);
    XliffMessage out;
    for (const IcuPiece& piece : message.pieces)
      if (!add(piece, out.passages)) return refused("an element begins in one case and ends in another");
    for (const IcuPlural& plural : message.plurals) {
      const std::string lacking = lacking_categories(target_language, plural.categories);
      if (!lacking.empty())
        out.notes.push_back("the plural of " + std::string(plural.name) + " lacks what " +
                            std::string(target_language) + " has, too: " + lacking);
    }
    return out;
  }

 private:
  static XliffMessage refused(const std::string& why) {
    return {{}, {"an ICU message is broken, " + why + ": it stays"}};
  }

  [[nodiscard]] Range in_bytes(Range range) const {
    Range out{inside_.begin + range.begin, inside_.begin + range.end};
    if (syntax_[range.begin] == '\'' && bytes_[out.begin] != '\'') out.begin = bytes_.rfind('&', out.begin);
    return out;
  }

  bool add(const IcuPiece& piece, std::vector<Passage>& passages) const {
    std::vector<Range> kept;
    for (const Range range : piece.kept) kept.push_back(in_bytes(range));
    PartBuilder words;
    const Range part{inside_.begin + piece.text.begin, inside_.begin + piece.text.end};
    if (!read_xliff_part(bytes_, part, kept, words)) return false;
    Passage passage;
    passage.escapes = icu_escapes(syntax_, false) | (piece.in_plural ? uint32_t{kEscapeHash} : 0u);
    if (words.finish(passage.parts)) passages.push_back(std::move(passage));
    return true;
  }

  std::string_view bytes_;
  Range inside_;
  std::string syntax_;
};

void encode_xliff(std::string& out, std::string_view text, Range range, bool, const Passage& passage) {
  if (passage.escapes == 0)
    append_xml(out, range.of(text));
  else
    append_xml(out, message_words(text, range, passage.escapes));
}

}  // namespace

const Style kXliffStyle = {encode_xliff};

bool is_xliff_message(std::string_view bytes, Range inside) {
  return inside.of(bytes).find('{') != std::string_view::npos && is_icu_message(syntax_of(bytes, inside));
}

XliffMessage read_xliff_message(std::string_view bytes, Range inside, std::string_view target_language) {
  return XliffCases(bytes, inside).read(target_language);
}

}  // namespace lapilli::documents
