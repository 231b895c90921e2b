// Groups a segment's ids into words by the rules of Whisper's own word timestamps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "speech/transcribe.hpp"
#include "text/tokenizer.hpp"

namespace lapilli::speech {

// A segment's ids with their probabilities (measures.hpp) and times: the seconds at which what follows each is heard.
struct TimedIds {
  std::span<const int32_t> ids;
  std::span<const double> times;
  std::span<const float> probabilities;
  double begin = 0;  // of the segment
};

struct WordRules {
  const Tokenizer* tokenizer = nullptr;  // null: each text id is a word without text
  int32_t first_special = 0;             // ids from here on are not text
  std::string language;                  // token; in languages without spaces a character is a word
};

// Words begin with a space, or anywhere in languages without spaces; punctuation joins the word it touches without
// changing its time or confidence.
Result<std::vector<Word>> words_of(const TimedIds& ids, const WordRules& rules);

}  // namespace lapilli::speech
