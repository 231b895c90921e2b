// The ids that a sentence with a shortlist may write, as a mask among its lists.
#pragma once

#include "search/sentence.hpp"

namespace lapilli {

// Words of a mask.
uint32_t allowed_words(uint32_t vocabulary);
// Adds the mask of its list and of the ids with which it can end; nothing for a sentence without a list, or with its
// mask. It is made for sentences that are admitted alone: of a hundred thousand sources it would fill the memory.
void add_allowed_ids(Sentence& sentence, uint32_t vocabulary);
// Takes it away again.
void drop_allowed_ids(Sentence& sentence);

}  // namespace lapilli
