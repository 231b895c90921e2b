// The words of subtitles: what is markup in a cue, who speaks, and which cues share a sentence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/kinds.hpp"
#include "documents/subtitle_times.hpp"

namespace lapilli::documents {

enum class CueMarkup { srt, vtt, ass, plain };

// A text with its time, line by line. Bytes between its lines stay with the line's end.
struct Cue {
  Timing time;
  std::vector<Range> lines;
  bool new_speaker = false;  // another one than the cue before has
  bool verse = false;        // a sentence continues here only if it begins small
};

// A part with the facts that decide if its sentence continues.
struct Speech {
  Part part;
  size_t cue = 0;
  Timing time;
  bool verse = false;
  bool new_speaker = false;
  bool behind_break = false;  // <br> precedes it in the same subtitle
  bool song = false;          // beside a musical note
  bool last_in_cue = false;
};
// Makes a passage of each sentence; speeches come in their order.
std::vector<Passage> join_sentences(std::vector<Speech> speeches);

// The words of cues, and a note about lines of karaoke, which stay. `owners`: what their times belong to.
struct Karaoke {
  size_t lines = 0;
  std::string_view owners;
};
Found found_in_cues(std::string_view bytes, const std::vector<Cue>& cues, CueMarkup markup, const Karaoke& karaoke);

// A sentence continues in the next cue if the pause is short and nobody else speaks.
std::vector<Passage> passages_of_cues(std::string_view bytes, const std::vector<Cue>& cues, CueMarkup markup);

// The end of an explicit line break at `at`, 0 if there is none: <br>, and \N in SubRip.
size_t break_end(std::string_view line, size_t at, CueMarkup markup);
// The end of the override block {...} of ASS at `at`; 0 if there is none.
size_t ass_block_end(std::string_view line, size_t at);

}  // namespace lapilli::documents
