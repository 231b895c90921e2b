// Ids of a segment put together to words, as Whisper's own word timestamps have them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "speech/transcribe.hpp"
#include "text/tokenizer.hpp"

namespace lapilli::speech {

// A segment's ids, and of each: when what follows it is heard, in seconds, and its probability (measures.hpp).
struct HeardIds {
  std::span<const int32_t> ids;
  std::span<const double> times;
  std::span<const float> probabilities;
  double begin = 0;  // of the segment
};

struct WordRules {
  const Tokenizer* tokenizer = nullptr;  // null: each id of text is a word without text
  int32_t first_special = 0;             // ids from here on are no text
  std::string language;                  // token; some languages have no spaces: a character is a word there
};

// Words begin with a space or where a language has none; punctuation goes with the word that it touches, and changes
// neither its time nor its confidence.
Result<std::vector<Word>> words_of(const HeardIds& heard, const WordRules& rules);

}  // namespace lapilli::speech
