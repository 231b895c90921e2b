#include "text/pipeline/aligned_text.hpp"

#include <algorithm>
#include <stdexcept>

#include "text/unicode/unicode.hpp"

namespace lapilli {

AlignedText::AlignedText(std::string_view text, uint32_t start) : text_(text), start_(start) {
  origins_.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    next_character(text, at);
    origins_.insert(origins_.end(), at - begin,
                    {start + static_cast<uint32_t>(begin), start + static_cast<uint32_t>(at)});
  }
}

Origin AlignedText::origin(size_t begin, size_t end) const {
  if (begin >= end) {
    const uint32_t place = begin < origins_.size() ? origins_[begin].begin
                           : origins_.empty()      ? start_
                                                   : origins_.back().end;
    return {place, place};
  }
  Origin covered = origins_[begin];
  // Normalization may reorder neighbouring characters: the outermost need not have the extreme origins.
  for (size_t i = begin + 1; i < end; ++i) {
    covered.begin = std::min(covered.begin, origins_[i].begin);
    covered.end = std::max(covered.end, origins_[i].end);
  }
  return covered;
}

AlignedText AlignedText::slice(size_t begin, size_t end) const {
  AlignedText part;
  part.text_ = text_.substr(begin, end - begin);
  part.origins_.assign(origins_.begin() + static_cast<ptrdiff_t>(begin),
                       origins_.begin() + static_cast<ptrdiff_t>(end));
  part.start_ = origin(begin, std::min(begin + 1, end)).begin;
  return part;
}

AlignedText AlignedText::rewrite() const {
  AlignedText text;
  text.text_.reserve(text_.size());
  text.origins_.reserve(origins_.size());
  text.start_ = start_;
  return text;
}

void AlignedText::copy(const AlignedText& from, size_t begin, size_t end) {
  text_.append(from.text_, begin, end - begin);
  origins_.insert(origins_.end(), from.origins_.begin() + static_cast<ptrdiff_t>(begin),
                  from.origins_.begin() + static_cast<ptrdiff_t>(end));
}

void AlignedText::check_room(size_t more) const {
  if (more > kMaxAlignedBytes || text_.size() > kMaxAlignedBytes - more)
    throw std::length_error("the normalizer makes the text too long");
}

Origin AlignedText::origin_before(size_t end) const { return end == 0 ? Origin{start_, start_} : origins_[end - 1]; }

void AlignedText::change(std::span<const ChangedCharacter> to) {
  AlignedText out = rewrite();
  size_t at = 0;  // of the next character whose place is to be taken
  const auto pass = [&] {
    if (at < size()) next_character(text_, at);
  };
  for (const ChangedCharacter& c : to) {
    out.check_room(4);
    out.append(c.character, c.change > 0 || at == size() ? origin_before(at) : origins_[at]);
    for (int32_t passed = c.change > 0 ? 1 : c.change; passed <= 0; ++passed) pass();
  }
  *this = std::move(out);
}

void AlignedText::append(std::string_view text, Origin origin) {
  check_room(text.size());
  text_.append(text);
  origins_.insert(origins_.end(), text.size(), origin);
}

void AlignedText::append(char32_t character, Origin origin) {
  const size_t before = text_.size();
  append_utf8(text_, character);
  origins_.insert(origins_.end(), text_.size() - before, origin);
}

void AlignedText::prepend(std::string_view text) {
  check_room(text.size());
  const Origin place = origins_.empty() ? Origin{start_, start_} : origins_.front();
  text_.insert(0, text);
  origins_.insert(origins_.begin(), text.size(), place);
}

}  // namespace lapilli
