#include "documents/office/markup_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace lapilli::documents {

namespace {

constexpr std::string_view kLess = "&lt;", kGreater = "&gt;", kAnd = "&amp;";
constexpr size_t kLongestWrittenTag = 1000;
constexpr std::array<std::string_view, 6> kNoEnd = {"br", "hr", "img", "input", "wbr", "col"};

struct WrittenTag {
  size_t length = 0;  // 0: there is none
  std::string_view name;
  bool ends = false, alone = false;
};

bool letter_at(std::string_view text, size_t at) {
  return at < text.size() && is_ascii_letter(static_cast<unsigned char>(text[at]));
}

// The tag at the front of the text: "&lt;/b&gt;", or "&lt;/b>".
WrittenTag written_tag(std::string_view text) {
  WrittenTag tag;
  if (!text.starts_with(kLess)) return tag;
  text = text.substr(0, kLongestWrittenTag);
  size_t at = kLess.size();
  tag.ends = at < text.size() && text[at] == '/';
  if (tag.ends) ++at;
  if (!letter_at(text, at) && (at >= text.size() || !is_ascii_digit(static_cast<unsigned char>(text[at])))) return tag;
  const size_t escaped = text.find(kGreater, at), plain = text.find_first_of("<>", at);
  const bool written = escaped < plain;
  const size_t end = written ? escaped : plain;
  if (end == std::string_view::npos || text.find(kLess, at) < end || text[end] == '<') return tag;
  tag.name = text.substr(at, std::min(text.find_first_of(" /&>", at), end) - at);
  tag.alone = text[end - 1] == '/' || std::find(kNoEnd.begin(), kNoEnd.end(), ascii_lower(tag.name)) != kNoEnd.end();
  tag.length = end + (written ? kGreater.size() : 1);
  return tag;
}

void add_written_tag(MarkupText& text, Range range, const WrittenTag& tag) {
  const bool divides = is_html_block(ascii_lower(tag.name));
  if (divides) text.divide();
  if (tag.alone || divides)
    text.words.point(range);
  else if (tag.ends)
    text.words.close(range, key_of_name(tag.name));
  else
    text.words.open(range, key_of_name(tag.name));
}

// "&File", at the beginning of a word; "R&D" and "a & b" are words.
bool is_mnemonic(std::string_view text, size_t at) {
  const bool begins = at == 0 || is_blank(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == ';';
  return begins && text.substr(at).starts_with(kAnd) && letter_at(text, at + kAnd.size());
}

// "%n" of a counted message, "%Ln" and "%L1" as the language writes numbers: the length at the front of the text.
size_t count_length(std::string_view text) {
  const size_t at = text.substr(0, 2) == "%L" ? 2 : 1;
  if (at >= text.size()) return 0;
  const bool number = text[at] == 'n' && !letter_at(text, at + 1);
  return number || (at == 2 && is_ascii_digit(static_cast<unsigned char>(text[at]))) ? at + 1 : 0;
}

void add_counted_words(PartBuilder& builder, std::string_view bytes, Range range) {
  const std::string_view text = bytes.substr(0, range.end);
  for (size_t at = text.find('%', range.begin); at != std::string_view::npos; at = text.find('%', at)) {
    const size_t length = count_length(text.substr(at));
    if (length > 0) {
      add_xml_words(builder, bytes, {range.begin, at});
      builder.kept({at, at + length}, text.substr(at, length));
      range.begin = at + length;
    }
    at += std::max<size_t>(length, 1);
  }
  add_xml_words(builder, bytes, range);
}

}  // namespace

uint32_t key_of_name(std::string_view name) {
  uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(ascii_lower(c))) * 16777619U;
  return hash | 0x80000000U;
}

void add_markup_text(MarkupText& out, std::string_view bytes, Range range, bool qt) {
  PartBuilder& builder = out.words;
  const std::string_view text = range.of(bytes);
  size_t begin = 0;
  const auto words_to = [&](size_t at) {
    const Range words{range.begin + begin, range.begin + at};
    qt ? add_counted_words(builder, bytes, words) : add_xml_words(builder, bytes, words);
  };
  for (size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', std::max(at + 1, begin))) {
    const WrittenTag tag = written_tag(text.substr(at));
    const bool mnemonic = tag.length == 0 && qt && is_mnemonic(text, at);
    if (tag.length == 0 && !mnemonic) continue;
    words_to(at);
    begin = at + (mnemonic ? kAnd.size() : tag.length);
    const Range found{range.begin + at, range.begin + begin};
    mnemonic ? builder.point(found) : add_written_tag(out, found, tag);
  }
  words_to(text.size());
}

std::vector<Passage> passages_of(MarkupText& text) {
  std::vector<Passage> passages;
  for (PartBuilder& words : text.words.take_apart(text.cuts)) {
    Passage passage;
    if (words.finish(passage.parts)) passages.push_back(std::move(passage));
  }
  text.cuts.clear();
  return passages;
}

void put_beside(std::vector<Passage>& passages, std::string_view bytes, Range content, Range place,
                const std::string& before, const std::string& after) {
  size_t at = content.begin;
  for (size_t i = 0; i < passages.size(); ++i) {
    Passage& passage = passages[i];
    passage.place = i == 0 ? place : Range{place.end, place.end};
    passage.joined = i > 0;
    passage.before = (i == 0 ? before : "") + std::string(Range{at, passage.source().begin}.of(bytes));
    at = passage.source().end;
  }
  passages.back().after = std::string(Range{at, content.end}.of(bytes)) + after;
}

}  // namespace lapilli::documents
