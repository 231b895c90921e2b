#include "text/pipeline/pipeline_tokenizer.hpp"

#include <algorithm>
#include <utility>

#include "text/unicode/unicode.hpp"

namespace lapilli {
namespace {

// A blank, or the byte-level mark for one (U+0120).
bool is_blank(char32_t c) { return c == 0x120 || is_white_space(c); }

size_t character_in_front(std::string_view text, size_t at) {
  do --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

size_t blanks_in_front(std::string_view token) {
  size_t count = 0;
  for (size_t at = 0; at < token.size() && is_blank(next_character(token, at));) ++count;
  return count;
}

size_t blanks_behind(std::string_view token) {
  size_t count = 0;
  for (size_t at = token.size(); at > 0; ++count) {
    at = character_in_front(token, at);
    size_t next = at;
    if (!is_blank(next_character(token, next))) break;
  }
  return count;
}

// Each blank of the token takes a character of the text from its end of the range, as in the reference.
Origin trim(std::string_view text, std::string_view token, Origin range, bool keeps_first) {
  size_t front = blanks_in_front(token), begin = range.begin, end = range.end;
  if (front > 0 && keeps_first) --front;
  for (; front > 0 && begin < end; --front) next_character(text, begin);
  for (size_t behind = blanks_behind(token); behind > 0 && begin < end; --behind) end = character_in_front(text, end);
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
}

}  // namespace

PipelineTokenizer::PipelineTokenizer(Pipeline pipeline, const PipelineSettings& settings)
    : pipeline_(std::move(pipeline)), size_(pipeline_.model->size()) {
  special_ = settings.special;
  pad_left_ = settings.pad_left;
  pad_type_ = settings.pad_type;
  clean_up_ = settings.clean_up;
  // BPE models keep their text unchanged whatever the file says, as in the reference implementation.
  keeps_text_ = pipeline_.model->kind() == ModelKind::bpe;
  for (const AddedToken& token : pipeline_.added.all()) size_ = std::max(size_, static_cast<uint64_t>(token.id) + 1);
}

std::string_view PipelineTokenizer::token(int32_t id) const {
  if (const AddedToken* added = pipeline_.added.by_id(id)) return added->text;
  if (const std::string* token = pipeline_.model->token(id)) return *token;
  const std::string* unknown = pipeline_.model->token(pipeline_.model->unknown());
  return unknown == nullptr ? std::string_view() : std::string_view(*unknown);
}

uint64_t PipelineTokenizer::vocabulary_size(TextSide) const { return size_; }

int32_t PipelineTokenizer::token_id(std::string_view token) const {
  if (const AddedToken* added = pipeline_.added.by_text(token)) return added->id;
  return pipeline_.model->id(token);
}

Result<Encoding> PipelineTokenizer::encode_plain(std::string_view text, const EncodeOptions&) const {
  std::vector<AddedVocabulary::Part> parts;
  LAPILLI_CHECK(pipeline_.added.split(text, pipeline_.normalizer.get(), parts));
  Encoding out;
  std::vector<AlignedText> words;
  std::vector<ModelToken> tokens;
  const auto trims = pipeline_.post_processor == nullptr ? TrimmedBlanks::none : pipeline_.post_processor->trims();
  int32_t number = 0;  // of the word
  const auto push = [&](int32_t id, std::string_view token, Origin range) {
    const bool first = out.ids.empty() || range.begin == 0;
    if (trims != TrimmedBlanks::none) range = trim(text, token, range, first && trims == TrimmedBlanks::all_but_first);
    out.push(id, {range.begin, range.end}, 0, 0, number);
  };
  for (AddedVocabulary::Part& part : parts) {
    if (part.token != nullptr) {
      push(part.token->id, part.text.text(), part.text.origin(0, part.text.size()));
      ++number;
      continue;
    }
    words.clear();
    if (pipeline_.pre_tokenizer != nullptr) {
      LAPILLI_CHECK(pipeline_.pre_tokenizer->split(std::move(part.text), words));
    } else {
      words.push_back(std::move(part.text));
    }
    for (const AlignedText& word : words) {
      if (word.empty()) continue;
      tokens.clear();
      LAPILLI_CHECK(pipeline_.model->tokenize(word.text(), tokens));
      for (const ModelToken& t : tokens) push(t.id, token(t.id), word.origin(t.begin, t.end));
      ++number;
    }
  }
  return out;
}

Result<Encoding> PipelineTokenizer::surround(const Encoding& first, const Encoding* second,
                                             const EncodeOptions& options) const {
  if (pipeline_.post_processor == nullptr) return join_texts(first, second);
  return pipeline_.post_processor->process(first, second, options.add_special);
}

Result<std::string> PipelineTokenizer::decode_valid(std::span<const int32_t> ids, const DecodeOptions& options) const {
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (const int32_t id : ids) {
    if (const AddedToken* added = pipeline_.added.by_id(id)) {
      if (!options.skip_special || !added->special) tokens.push_back(pipeline_.added.decoded(*added));
    } else if (const std::string* token = pipeline_.model->token(id)) {
      tokens.push_back(*token);
    }
  }
  std::string out;
  if (tokens.empty()) return out;
  if (pipeline_.decoder != nullptr) {
    LAPILLI_CHECK(pipeline_.decoder->apply(tokens));
    for (const std::string& t : tokens) out += t;
  } else {
    for (const std::string& t : tokens) {
      if (&t != &tokens.front()) out += ' ';
      out += t;
    }
  }
  return out;
}

}  // namespace lapilli
