// The words of a segment: which of its ids and which part of its text each is, when it was heard, how likely it was.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "speech/transcribe.hpp"
#include "text/tokenizer.hpp"

namespace lapilli::speech {

struct Word {
  std::string text;            // with the white space in front: joined, the words are the segment's text
  size_t first = 0, last = 0;  // of the segment's ids
  double begin = 0, end = 0;   // seconds, as the segment's
  double probability = 0;      // mean of its ids'; not a number if these are not known
};

// White space separates words; where a script writes none, what an id stands for is one. Signs belong to the word
// before them, opening ones to the word behind. Ids from `timestamp_begin` on are timestamps. Needs Segment::times.
Result<std::vector<Word>> words_of(const Segment& segment, const Tokenizer& tokenizer, int32_t timestamp_begin);

}  // namespace lapilli::speech
