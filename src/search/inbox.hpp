// What the host sends with new sentences: writes the words that "admit" reads (InboxLayout).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/sentence.hpp"

namespace lapilli {

class InboxWriter {
 public:
  // `words` have room for so many sentences with their given ids and lists; see inbox_words().
  InboxWriter(std::span<uint32_t> words, uint32_t sentences);
  // The sentence's mark is set. Its lists come to lie at `lists_offset`; `with_lists`: their words are sent too.
  void enter(const Sentence& sentence, uint32_t place, uint32_t lists_offset, bool with_lists);
  // After all sentences: the session's mark, and places whose sentences end at once.
  void finish(uint32_t session_mark, std::span<const uint32_t> cancelled);
  [[nodiscard]] uint32_t sentences() const { return sentences_; }

 private:
  uint32_t put(std::span<const uint32_t> words);
  std::span<uint32_t> words_;
  uint32_t sentences_ = 0, data_ = 0;
  std::vector<uint32_t> blocks_;
};

// Words of an inbox for so many sentences, of which `given_ids` ids are given beside the decoder starts, with lists of
// `list_words` and `places` places to cancel.
struct InboxRoom {
  uint32_t sentences = 0, given_ids = 0, list_words = 0, places = 0;
};
uint32_t inbox_words(const InboxRoom& room);

}  // namespace lapilli
