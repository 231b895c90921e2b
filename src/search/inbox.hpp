// Writer of the words that "admit" reads of new sentences (state::INBOX_*).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/sentence.hpp"

namespace lapilli {

// A part of a sentence's prompt ids.
struct PromptPart {
  uint32_t begin = 0, end = ~uint32_t{0};
};

class InboxWriter {
 public:
  // `words` must have room for this many sentences with their prompt ids and lists; see inbox_words().
  InboxWriter(std::span<uint32_t> words, uint32_t sentences);
  // Adds a sentence, whose mark is set. Its lists go to `lists_offset`; `with_lists`: their words are sent too. A
  // sentence whose prompt is not complete with this part comes last.
  void enter(const Sentence& sentence, uint32_t slot, uint32_t lists_offset, bool with_lists, PromptPart ids = {});
  // Call after all sentences, with the session's mark and the slots whose sentences end at once.
  void finish(uint32_t session_mark, std::span<const uint32_t> cancelled);
  [[nodiscard]] uint32_t sentences() const { return sentences_; }
  [[nodiscard]] uint32_t prompt_ids() const { return prompt_ids_; }

 private:
  uint32_t put(std::span<const uint32_t> words);
  std::span<uint32_t> words_;
  uint32_t sentences_ = 0, queued_ = 0, prompt_ids_ = 0, data_ = 0;
  std::vector<uint32_t> blocks_, parts_;
};

// Size of an inbox for `sentences` sentences with `prompt_ids` prompt ids in all beside the decoder starts, lists of
// `list_words`, and `slots` slots to cancel.
struct InboxRoom {
  uint32_t sentences = 0, prompt_ids = 0, list_words = 0, slots = 0;
};
uint32_t inbox_words(const InboxRoom& room);

}  // namespace lapilli
