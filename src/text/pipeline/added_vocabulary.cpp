#include "text/pipeline/added_vocabulary.hpp"

#include <algorithm>
#include <utility>

#include "text/pipeline/vocabulary_trie.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

// Start of the character before `at`.
size_t character_before(std::string_view text, size_t at) {
  do {
    --at;
  } while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

bool word_at(std::string_view text, size_t at) {
  if (at >= text.size()) return false;
  return is_word(next_character(text, at));
}

bool stands_alone(std::string_view text, size_t begin, size_t end) {
  return (begin == 0 || !word_at(text, character_before(text, begin))) && !word_at(text, end);
}

}  // namespace

Result<AddedVocabulary> AddedVocabulary::make(std::vector<AddedToken> tokens, const SubwordModel& model,
                                              const Normalizer* normalizer) {
  AddedVocabulary v;
  const auto limit = static_cast<int64_t>(std::min<uint64_t>(model.size() + 4 * tokens.size() + 65536, INT32_MAX));
  for (AddedToken& token : tokens) {
    if (token.text.empty()) continue;
    if (const int32_t known = model.id(token.text); known >= 0) token.id = known;
    if (token.id < 0 || token.id >= limit)
      return fail(ErrorCode::invalid_data, "the added token %s has id %d, far outside the vocabulary of %u",
                  quote_text(token.text), token.id, static_cast<size_t>(model.size()));
    if (token.single_word) LAPILLI_CHECK(require_unicode("an added token that is to be a word of its own"));
    const auto [it, fresh] = v.by_text_.try_emplace(token.text, v.tokens_.size());
    if (fresh) {
      v.tokens_.push_back(std::move(token));
    } else {
      v.tokens_[it->second] = std::move(token);
    }
  }
  std::vector<std::pair<std::string_view, int32_t>> raw;
  std::vector<std::pair<std::string_view, int32_t>> normalized;
  v.decoded_.resize(v.tokens_.size());
  for (size_t i = 0; i < v.tokens_.size(); ++i) {
    const AddedToken& token = v.tokens_[i];
    v.by_id_[token.id] = i;
    v.decoded_[i] = token.text;
    if (!token.normalized) {
      raw.emplace_back(token.text, static_cast<int32_t>(i));
    } else if (normalizer != nullptr) {
      AlignedText text(token.text, 0);
      LAPILLI_CHECK(normalizer->apply(text));
      v.decoded_[i] = text.text();
    }
  }
  // Normalized tokens may coincide: the first special one counts, otherwise the first. They are added in reverse, as a
  // trie keeps the last.
  for (const bool special : {false, true}) {
    for (size_t i = v.tokens_.size(); i-- > 0;) {
      const AddedToken& token = v.tokens_[i];
      if (token.normalized && token.special == special) normalized.emplace_back(v.decoded_[i], static_cast<int32_t>(i));
    }
  }
  LAPILLI_TRY(v.raw_, make_limited_trie(std::move(raw), "added tokens"));
  LAPILLI_TRY(v.normalized_, make_limited_trie(std::move(normalized), "added tokens"));
  return v;
}

// The longest token at a position wins; the search continues after it.
void AddedVocabulary::cut(AlignedText text, const ByteTrie& trie, std::vector<Part>& parts) const {
  const std::string& s = text.text();
  size_t done = 0;
  for (size_t at = 0; at < s.size();) {
    const ByteTrie::Match match = trie.longest(std::string_view(s).substr(at));
    if (match.value < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<size_t>(match.value)];
    size_t begin = at;
    size_t end = at + match.length;
    at = end;
    if (begin < done || (token.single_word && !stands_alone(s, begin, end))) continue;
    while (token.lstrip && begin > done) {
      size_t c = character_before(s, begin);
      const size_t from = c;
      if (!is_white_space(next_character(s, c))) break;
      begin = from;
    }
    for (size_t next = end; token.rstrip && next < s.size() && is_white_space(next_character(s, next));) end = next;
    if (done < begin) parts.push_back({text.slice(done, begin), nullptr});
    parts.push_back({text.slice(begin, end), &token});
    done = end;
  }
  if (done == 0 && !s.empty()) {
    text.restart();
    parts.push_back({std::move(text), nullptr});
  } else if (done < s.size()) {
    parts.push_back({text.slice(done, s.size()), nullptr});
  }
}

Status AddedVocabulary::split(std::string_view text, const Normalizer* normalizer, std::vector<Part>& parts) const {
  std::vector<Part> raw;
  cut(AlignedText(text, 0), raw_, raw);
  for (Part& part : raw) {
    if (part.token != nullptr) {
      parts.push_back(std::move(part));
      continue;
    }
    if (normalizer != nullptr) LAPILLI_CHECK(normalizer->apply(part.text));
    cut(std::move(part.text), normalized_, parts);
  }
  return {};
}

const AddedToken* AddedVocabulary::by_id(int32_t id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &tokens_[it->second];
}

const AddedToken* AddedVocabulary::by_text(std::string_view text) const {
  const auto it = by_text_.find(std::string(text));
  return it == by_text_.end() ? nullptr : &tokens_[it->second];
}

}  // namespace lapilli
