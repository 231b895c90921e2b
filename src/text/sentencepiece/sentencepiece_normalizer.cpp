#include "text/sentencepiece/sentencepiece_normalizer.hpp"

#include <algorithm>
#include <utility>

#include "text/pipeline/aligned_text.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

SentencePieceNormalizer::SentencePieceNormalizer(Settings settings, const ByteTrie* symbols, bool space_behind,
                                                 CharacterMap map)
    : settings_(std::move(settings)),
      symbols_(symbols),
      space_behind_(space_behind),
      map_(std::move(map)),
      space_(settings_.escape_whitespaces ? kWordMark : " ") {}

Result<SentencePieceNormalizer> SentencePieceNormalizer::make(Settings settings, const ByteTrie* symbols,
                                                              bool space_behind) {
  LAPILLI_TRY(CharacterMap map, CharacterMap::read(std::exchange(settings.charsmap, {})));
  return SentencePieceNormalizer(std::move(settings), symbols, space_behind, std::move(map));
}

SentencePieceNormalizer::Part SentencePieceNormalizer::next(std::string_view input) const {
  if (symbols_ != nullptr) {
    const size_t symbol = symbols_->longest(input).length;
    if (symbol > 0) return {symbol, input.substr(0, symbol)};
  }
  if (const CharacterMap::Rule rule = map_.longest(input); rule.length > 0) return {rule.length, rule.replacement};
  const CodePoint character = decode_utf8(input, 0);
  if (!character.valid) return {1, "\xEF\xBF\xBD"};
  return {character.bytes, input.substr(0, character.bytes)};
}

size_t SentencePieceNormalizer::leading_spaces(std::string_view input) const {
  size_t at = 0;
  while (at < input.size()) {
    const Part part = next(input.substr(at));
    if (part.text != " ") break;
    at += part.length;
  }
  return at;
}

void SentencePieceNormalizer::add_space(NormalizedText& out, size_t origin) const {
  out.text += space_;
  out.origins.insert(out.origins.end(), space_.size(), static_cast<uint32_t>(origin));
}

void SentencePieceNormalizer::add(NormalizedText& out, std::string_view text, size_t origin) const {
  for (const char c : text) {
    if (c == ' ') {
      add_space(out, origin);
    } else {
      out.text += c;
      out.origins.push_back(static_cast<uint32_t>(origin));
    }
  }
}

size_t SentencePieceNormalizer::strip_end(NormalizedText& out, size_t end) const {
  while (out.text.ends_with(space_)) {
    const size_t length = out.text.size() - space_.size();
    end = out.origins[length];
    out.text.resize(length);
    out.origins.resize(length);
  }
  return end;
}

Result<NormalizedText> SentencePieceNormalizer::apply(std::string_view input) const {
  NormalizedText out;
  const bool single_spaces = settings_.remove_extra_whitespaces;
  size_t at = single_spaces ? leading_spaces(input) : 0;
  if (at == input.size()) return out;
  out.text.reserve(2 * input.size());
  out.origins.reserve(2 * input.size());
  if (settings_.add_dummy_prefix && !space_behind_) add_space(out, at);
  bool behind_space = single_spaces;
  while (at < input.size()) {
    const Part part = next(input.substr(at));
    std::string_view text = part.text;
    if (behind_space) text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (out.text.size() + text.size() > kMaxAlignedBytes)
      return fail(ErrorCode::invalid_data, "the normalizer makes the text too long");
    add(out, text, at);
    if (!text.empty()) behind_space = single_spaces && text.back() == ' ';
    at += part.length;
  }
  if (single_spaces) at = strip_end(out, at);
  if (settings_.add_dummy_prefix && space_behind_) add_space(out, at);
  out.origins.push_back(static_cast<uint32_t>(at));
  return out;
}

}  // namespace lapilli
