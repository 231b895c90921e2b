// Cuts segments into subtitles, with as many words as fit on a line and into a subtitle.
#pragma once

#include <cstdint>
#include <vector>

#include "subtitles/spoken_line.hpp"

namespace lapilli::subtitles {

struct CueShape {
  uint32_t width = 0;       // characters a line; 0: no limit, or with `by_words` a word a line
  uint32_t lines = 0;       // of a subtitle; 0: no limit, or with `by_words` one
  bool by_words = false;    // subtitles begin and end with their words
  bool word_times = false;  // words are kept apart even if no cut requires it
  bool ids = false;         // ids are shown
};

struct Cue {
  double begin = 0, end = 0;  // seconds
  std::vector<std::vector<SpokenWord>> lines;
};

// A word longer than a line has a line of its own. A segment without words is one subtitle, whatever `by_words`.
std::vector<Cue> cues_of(const SpokenLine& line, const CueShape& shape);

// True if a blank separates the word from the previous one.
inline bool stands_apart(const SpokenWord& word, bool ids) { return ids || word.text.starts_with(' '); }

}  // namespace lapilli::subtitles
