#include "search/inbox.hpp"

#include <algorithm>

#include "ops/search/inbox_parts.hpp"

namespace lapilli {

namespace {}  // namespace

uint32_t inbox_words(const InboxRoom& room) {
  return state::inbox_entry_at(room.sentences) + room.sentences * (1 + state::INBOX_BLOCK + state::INBOX_PART) +
         room.prompt_ids + room.slots + room.list_words;
}

InboxWriter::InboxWriter(std::span<uint32_t> words, uint32_t sentences)
    : words_(words), data_(state::inbox_entry_at(sentences)) {}

uint32_t InboxWriter::put(std::span<const uint32_t> words) {
  const uint32_t at = data_;
  std::copy(words.begin(), words.end(), words_.begin() + at);
  data_ += static_cast<uint32_t>(words.size());
  return at;
}

void InboxWriter::enter(const Sentence& s, uint32_t slot, uint32_t lists_offset, bool with_lists, PromptPart part) {
  std::vector<uint32_t> params = s.words.params;
  place_lists(params, lists_offset);
  params[state::P_MARK] = s.mark;
  part.end = std::min(part.end, static_cast<uint32_t>(s.prompt.size()));
  const std::vector<uint32_t> ids(s.prompt.begin() + part.begin, s.prompt.begin() + part.end);
  parts_.insert(parts_.end(), {part.begin, part.end});
  prompt_ids_ += part.end - part.begin;
  uint32_t* entry = words_.data() + state::inbox_entry_at(sentences_);
  entry[state::INBOX_SLOT] = slot;
  entry[state::INBOX_SOURCE_BEGIN] = 0;
  entry[state::INBOX_SOURCE_END] = s.source_length();
  entry[state::INBOX_PROMPT_OFFSET] = put(ids);
  std::copy(params.begin(), params.end(), entry + state::INBOX_PARAMS);
  ++sentences_;
  if (part.end == s.prompt.size()) ++queued_;
  if (!with_lists) return;
  const auto n = static_cast<uint32_t>(s.words.lists.size());
  blocks_.insert(blocks_.end(), {lists_offset, n, put(s.words.lists)});
}

void InboxWriter::finish(uint32_t session_mark, std::span<const uint32_t> cancelled) {
  words_[state::INBOX_SENTENCES] = sentences_;
  words_[state::INBOX_QUEUED] = queued_;
  words_[state::INBOX_PARTS_OFFSET] = put(parts_);
  words_[state::INBOX_MARK] = session_mark;
  words_[state::INBOX_CANCELLED] = static_cast<uint32_t>(cancelled.size());
  words_[state::INBOX_CANCELLED_OFFSET] = put(cancelled);
  words_[state::INBOX_BLOCKS] = static_cast<uint32_t>(blocks_.size()) / state::INBOX_BLOCK;
  words_[state::INBOX_BLOCKS_OFFSET] = put(blocks_);
}

}  // namespace lapilli
