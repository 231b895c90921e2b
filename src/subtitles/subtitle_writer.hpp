// Segments of speech as SubRip and WebVTT.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "subtitles/cues.hpp"
#include "subtitles/spoken_line.hpp"

namespace lapilli::subtitles {

struct SubtitleStyle {
  bool vtt = false;    // WebVTT; else SubRip
  bool ids = false;    // ids instead of words
  bool words = false;  // WebVTT: times of words; SubRip: a subtitle a word, or as many as line_width has room for
  // Characters a line, lines a subtitle; 0: no limit. With words they are cut at word boundaries.
  uint32_t line_width = 0, line_count = 0;
};

// The text as it is shown, on one line; or the ids.
std::string shown_text(const std::string& text, const std::vector<int32_t>& ids, bool as_ids);
// Ids in decimal.
std::string list_of(const std::vector<int32_t>& ids, const char* between);
std::string trimmed(const std::string& text);

// Writes one recording; each piece of output is complete.
class SubtitleWriter {
 public:
  explicit SubtitleWriter(SubtitleStyle style) : style_(style) {}
  [[nodiscard]] std::string head() const { return style_.vtt ? "WEBVTT\n\n" : ""; }
  // "" for a line without text. `length`: of the recording, as far as it is known, in seconds; subtitles end there.
  std::string line(const SpokenLine& line, double length = std::numeric_limits<double>::infinity());

 private:
  [[nodiscard]] std::string cue_text(const Cue& cue) const;

  SubtitleStyle style_;
  uint64_t cues_ = 0;  // so far
};

}  // namespace lapilli::subtitles
