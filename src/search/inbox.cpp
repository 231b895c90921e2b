#include "search/inbox.hpp"

#include <algorithm>

namespace lapilli {

namespace {
using I = InboxLayout;
}  // namespace

uint32_t inbox_words(const InboxRoom& room) {
  return I::entry_at(room.sentences) + room.sentences * (1 + I::block) + room.given_ids + room.places + room.list_words;
}

InboxWriter::InboxWriter(std::span<uint32_t> words, uint32_t sentences)
    : words_(words), data_(I::entry_at(sentences)) {}

uint32_t InboxWriter::put(std::span<const uint32_t> words) {
  const uint32_t at = data_;
  std::copy(words.begin(), words.end(), words_.begin() + at);
  data_ += static_cast<uint32_t>(words.size());
  return at;
}

void InboxWriter::enter(const Sentence& s, uint32_t place, uint32_t lists_offset, bool with_lists) {
  std::vector<uint32_t> params = s.words.params;
  place_lists(params, lists_offset);
  params[ParamWords::mark] = s.mark;
  const std::vector<uint32_t> ids(s.given.begin(), s.given.end());
  uint32_t* entry = words_.data() + I::entry_at(sentences_);
  entry[I::place] = place;
  entry[I::source_begin] = 0;
  entry[I::source_end] = s.source_length();
  entry[I::given_offset] = put(ids);
  std::copy(params.begin(), params.end(), entry + I::params);
  ++sentences_;
  if (!with_lists) return;
  const auto n = static_cast<uint32_t>(s.words.lists.size());
  blocks_.insert(blocks_.end(), {lists_offset, n, put(s.words.lists)});
}

void InboxWriter::finish(uint32_t session_mark, std::span<const uint32_t> cancelled) {
  words_[I::sentences] = sentences_;
  words_[I::mark] = session_mark;
  words_[I::cancelled] = static_cast<uint32_t>(cancelled.size());
  words_[I::cancelled_offset] = put(cancelled);
  words_[I::blocks] = static_cast<uint32_t>(blocks_.size()) / I::block;
  words_[I::blocks_offset] = put(blocks_);
}

}  // namespace lapilli
