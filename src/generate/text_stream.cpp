#include "generate/text_stream.hpp"

#include <algorithm>

#include "text/unicode/utf8.hpp"

namespace lapilli {

namespace {

// Start of the last character; `text` is valid UTF-8 and not empty.
size_t last_character(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}

uint32_t code_at(std::string_view text, size_t at) {
  const auto c = static_cast<unsigned char>(text[at]);
  const size_t bytes = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
  uint32_t code = bytes == 1 ? c : c & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes && at + i < text.size(); ++i)
    code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fu);
  return code;
}

// Scripts without spaces, in complete characters: Chinese, Japanese. (Korean has spaces, Thai has marks that follow.)
bool stands_alone(uint32_t code) {
  return (code >= 0x3040 && code <= 0x30ff) || (code >= 0x3400 && code <= 0x9fff) ||
         (code >= 0xf900 && code <= 0xfaff) || (code >= 0x20000 && code <= 0x3ffff) ||
         (code >= 0x3001 && code <= 0x3002);
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// Bytes of `text` that no further token can change.
size_t stable_bytes(std::string_view text) {
  size_t end = text.size();
  bool lone = false;  // a character behind `end` is pending
  while (end > 0) {
    const size_t at = last_character(text.substr(0, end));
    if (is_space(text[at])) {
      // White space at the end may be stripped, or precede punctuation.
      while (end > 0 && is_space(text[end - 1])) --end;
      return end;
    }
    // The last character may still get a combining mark.
    if (lone && stands_alone(code_at(text, at))) return end;
    lone = true;
    end = at;
  }
  return 0;
}

}  // namespace

Result<std::string> IncrementalText::push(std::span<const int32_t> ids) {
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  if (!tokenizer_) return std::string();
  LAPILLI_TRY(const std::string text, tokenizer_->decode(ids_));
  const size_t stable = stable_bytes(text);
  if (stable <= given_.size() || !text.starts_with(given_)) return std::string();
  std::string fresh = text.substr(given_.size(), stable - given_.size());
  given_ += fresh;
  return fresh;
}

Result<std::string> IncrementalText::whole() const {
  if (!tokenizer_) return std::string();
  return tokenizer_->decode(ids_);
}

std::string IncrementalText::finish(std::string_view whole) {
  if (!whole.starts_with(given_)) return {};
  std::string rest(whole.substr(given_.size()));
  given_ += rest;
  return rest;
}

InputStream::InputStream(const Tokenizer* tokenizer, std::string_view text, std::span<const TextRange> ranges,
                         const AnswerRules& rules)
    : text_(text), ranges_(ranges) {
  for (size_t i = 0; i < std::max<size_t>(1, ranges.size()); ++i)
    parts_.push_back({IncrementalText(tokenizer), AnswerText(rules), {}, {}, {}, 0, false, false});
}

void InputStream::add(Part& part, const std::string& text) {
  part.waiting += text;
  part.given += text;
}

Result<InputStream::Output> InputStream::push(size_t part, std::span<const int32_t> ids, bool ended) {
  Part& p = parts_[part];
  LAPILLI_TRY(const std::string fresh, p.text.push(ids));
  add(p, p.answer.push(fresh));
  p.waiting_ids.insert(p.waiting_ids.end(), ids.begin(), ids.end());
  p.ids += ids.size();
  if (ended) {
    LAPILLI_TRY(const std::string all, p.text.whole());
    add(p, p.answer.push(p.text.finish(all)));
    add(p, p.answer.finish());
    p.complete = true;
  }
  Output out;
  drain(out);
  return out;
}

InputStream::Output InputStream::finish(size_t part, std::string_view text, std::span<const int32_t> ids) {
  Part& p = parts_[part];
  if (p.complete) return {};
  if (text.starts_with(p.given)) add(p, std::string(text.substr(p.given.size())));
  if (p.ids < ids.size())
    p.waiting_ids.insert(p.waiting_ids.end(), ids.begin() + static_cast<ptrdiff_t>(p.ids), ids.end());
  p.complete = true;
  Output out;
  drain(out);
  return out;
}

void InputStream::drain(Output& out) {
  for (; next_ < parts_.size(); ++next_) {
    Part& p = parts_[next_];
    if (!p.begun && (!p.waiting.empty() || p.complete)) {
      p.begun = true;
      add_gap(next_, p.waiting, out);
    }
    out.text += p.waiting;
    given_ += p.waiting;
    p.waiting.clear();
    out.ids.insert(out.ids.end(), p.waiting_ids.begin(), p.waiting_ids.end());
    p.waiting_ids.clear();
    if (!p.complete) return;
  }
  // Text after the last part.
  if (!ranges_.empty() && next_ == parts_.size() && ranges_.back().end < text_.size()) {
    out.text += text_.substr(ranges_.back().end);
    ranges_ = {};
  }
}

// Adds this gap as join_sentences would.
void InputStream::add_gap(size_t part, std::string_view next, Output& out) {
  if (ranges_.empty()) return;
  const uint64_t begin = part == 0 ? 0 : ranges_[part - 1].end;
  const std::string_view around = text_.substr(begin, ranges_[part].end - begin);
  const TextRange own{ranges_[part].begin - begin, around.size()};
  const std::vector<TextRange> two{{0, 0}, own};
  const std::vector<std::string> written{given_, std::string(next)};
  const std::string joined = part == 0
                                 ? join_sentences(around, std::span(two).subspan(1), std::span(written).subspan(1))
                                 : join_sentences(around, two, written);
  const size_t before = part == 0 ? 0 : given_.size();
  const std::string gap = joined.substr(before, joined.size() - before - next.size());
  out.text += gap;
  given_ += gap;
}

}  // namespace lapilli
