// Time lines and numbers of subtitles, as programs write them and as shifting, converting and translating leave them.
#pragma once

#include <limits>
#include <optional>
#include <string_view>

namespace lapilli::documents {

// Seconds; unknown times are far from all others.
struct Timing {
  double begin = -std::numeric_limits<double>::infinity(), end = std::numeric_limits<double>::infinity();
};

// Reads "00:00:01,500 --> 00:00:02,500" with anything behind it. Fields may be missing, longer or negative, with other
// separators. In SubRip the arrow may also be another one ("->", "→"); in WebVTT that is no time line, but may be a
// comment.
std::optional<Timing> read_timing(std::string_view line, bool vtt);

// True for a line of mostly digits, like a garbled time line.
bool resembles_timing(std::string_view line);

// True for "12", "12.", "#12", in digits of any script.
bool is_cue_number(std::string_view line);

}  // namespace lapilli::documents
