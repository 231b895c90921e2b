#include "documents/memory/translation_memory.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "documents/characters.hpp"
#include "documents/memory/tmx_units.hpp"

namespace lapilli::documents {

namespace {

constexpr char kNumberMark = '\1';

std::string one_code(std::string_view language) {
  std::string code = ascii_lower(language);
  std::ranges::replace(code, '_', '-');
  return code;
}
std::string base_code(std::string_view language) {
  const std::string code = one_code(language);
  return code.substr(0, code.find('-'));
}

// The variant in a language: in these very letters, or any of the same language. Null: there is none.
const TmxVariant* variant_in(const TmxUnit& unit, const std::string& language) {
  const auto with = [&](auto code) {
    const auto at = std::ranges::find_if(
        unit.variants, [&](const TmxVariant& v) { return code(v.language) == code(language) && !v.text.empty(); });
    return at == unit.variants.end() ? nullptr : &*at;
  };
  const TmxVariant* same = with([](std::string_view l) { return one_code(l); });
  return same ? same : with([](std::string_view l) { return base_code(l); });
}

std::string in_one_line_of(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (!is_blank(static_cast<unsigned char>(c)))
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

bool is_digit_at(std::string_view text, size_t at) {
  return at < text.size() && is_ascii_digit(static_cast<unsigned char>(text[at]));
}

// A number that begins at `at`, with points and commas in it; not in a word ("x86").
size_t number_end(std::string_view text, size_t at) {
  size_t before = at;
  if (!is_digit_at(text, at) || (at > 0 && !is_sign(previous_character(text, before)))) return at;
  size_t end = at;
  while (is_digit_at(text, end) ||
         (end < text.size() && (text[end] == '.' || text[end] == ',') && is_digit_at(text, end + 1)))
    ++end;
  return end;
}

// Calls `number` with each number of a text and `other` with what stands between.
template <class Number, class Other>
void each_number(std::string_view text, Number number, Other other) {
  size_t words = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = number_end(text, at);
    if (end == at) {
      ++at;
      continue;
    }
    other(text.substr(words, at - words));
    number(text.substr(at, end - at));
    words = at = end;
  }
  other(text.substr(words));
}

std::string without_numbers_of(std::string_view text, std::vector<std::string>& numbers) {
  std::string pattern;
  each_number(
      text,
      [&](std::string_view number) {
        numbers.emplace_back(number);
        pattern += kNumberMark;
      },
      [&](std::string_view other) { pattern += other; });
  return pattern;
}

// The translation with other numbers; nothing if one of them is not the source's, or became two.
std::optional<std::string> with_numbers(std::string_view target, const std::vector<std::string>& old,
                                        const std::vector<std::string>& now) {
  bool clear = true;
  std::string out;
  const auto replace = [&](std::string_view number) {
    const auto at = std::ranges::find(old, number);
    clear &= at != old.end();
    for (size_t i = 0; clear && i < old.size(); ++i)
      clear &= old[i] != number || now[i] == now[static_cast<size_t>(at - old.begin())];
    if (clear) out += now[static_cast<size_t>(at - old.begin())];
  };
  size_t found = 0;
  each_number(
      target,
      [&](std::string_view number) {
        ++found;
        replace(number);
      },
      [&](std::string_view other) { out += other; });
  return clear && found >= old.size() ? std::optional(out) : std::nullopt;
}

void append_tmx_text(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= ' ' || c == '\t' || c == '\n')
      out += c;  // XML has no other control characters
  }
}

std::string tmx_variant(std::string_view language, std::string_view text) {
  std::string out = "      <tuv xml:lang=\"";
  append_tmx_text(out, language.empty() ? "und" : language);
  out += "\"><seg>";
  append_tmx_text(out, text);
  return out + "</seg></tuv>\n";
}

}  // namespace

void TranslationMemory::add(const std::string& source, const std::string& target) {
  const std::string text = in_one_line_of(source);
  if (text.empty()) return;
  targets_.push_back(in_one_line_of(target));
  const size_t index = targets_.size() - 1;
  std::vector<std::string> numbers;
  const std::string pattern = without_numbers_of(text, numbers);
  if (!numbers.empty()) patterns_[pattern] = {std::move(numbers), index};
  exact_[text] = index;
}

std::string TranslationMemory::read(std::string_view tmx, const std::string& from, const std::string& to) {
  if (const auto at = find_invalid_utf8(tmx))
    return "byte " + std::to_string(*at + 1) + " is not UTF-8: convert it, e.g. with iconv -f UTF-16 -t UTF-8";
  std::set<std::string> others;
  const auto take = [&](const std::string& header, const TmxUnit& unit) {
    const TmxVariant* source = variant_in(unit, from.empty() ? header : from);
    const TmxVariant* target = to.empty() ? nullptr : variant_in(unit, to);
    for (const TmxVariant& v : unit.variants) {
      if (!source || !to.empty() || base_code(v.language) == base_code(source->language)) continue;
      others.insert(base_code(v.language));
      target = &v;
    }
    if (source && target) add(source->text, target->text);
  };
  const auto header = read_tmx(tmx, take);
  if (!header) return header.error().message;
  if (from.empty() && (header->empty() || *header == "*all*")) return "it names no source language: say --from";
  if (others.size() > 1) return "it has translations into several languages: say --to";
  return "";
}

std::optional<std::string> TranslationMemory::find(std::string_view text) const {
  if (targets_.empty()) return std::nullopt;
  const std::string line = in_one_line_of(text);
  if (const auto same = exact_.find(line); same != exact_.end()) return targets_[same->second];
  std::vector<std::string> numbers;
  const std::string pattern = without_numbers_of(line, numbers);
  const auto like = numbers.empty() ? patterns_.end() : patterns_.find(pattern);
  if (like == patterns_.end()) return std::nullopt;
  return with_numbers(targets_[like->second.target], like->second.numbers, numbers);
}

std::string tmx_head(std::string_view from) {
  std::string head =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tmx version=\"1.4\">\n  <header creationtool=\"lapilli\" "
      "creationtoolversion=\"1\" segtype=\"sentence\" o-tmf=\"lapilli\" adminlang=\"en\" srclang=\"";
  append_tmx_text(head, from.empty() ? "*all*" : from);
  return head + "\" datatype=\"plaintext\"/>\n  <body>\n";
}

std::string tmx_unit(std::string_view source, std::string_view target, std::string_view from, std::string_view to) {
  return "    <tu>\n" + tmx_variant(from, source) + tmx_variant(to, target) + "    </tu>\n";
}

}  // namespace lapilli::documents
