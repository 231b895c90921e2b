// Segments cut into subtitles: as many words as a line and a subtitle have room for.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/run/spoken_line.hpp"

namespace lapilli::cli {

struct CueShape {
  uint32_t width = 0;       // characters a line; 0: no bound, or of `by_words` a word a line
  uint32_t lines = 0;       // of a subtitle; 0: no bound, or of `by_words` one
  bool by_words = false;    // subtitles begin and end with their words
  bool word_times = false;  // words are told apart, although they are not cut
  bool ids = false;         // ids are what is shown
};

struct Cue {
  double begin = 0, end = 0;  // seconds
  std::vector<std::vector<SpokenWord>> lines;
};

// A word that is longer than a line has one of its own. A segment without words is one subtitle, whatever `by_words`
// says.
std::vector<Cue> cues_of(const SpokenLine& line, const CueShape& shape);

// Between it and the word before it there is a blank.
inline bool stands_apart(const SpokenWord& word, bool ids) { return ids || word.text.starts_with(' '); }

}  // namespace lapilli::cli
