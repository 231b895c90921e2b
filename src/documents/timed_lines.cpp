// Texts with simple times: subtitles of YouTube (.sbv) and words of songs (.lrc).
#include <optional>
#include <utility>

#include "base/result.hpp"
#include "documents/cue_text.hpp"
#include "documents/kinds.hpp"
#include "documents/lines.hpp"

namespace lapilli::documents {

namespace {

// "0:00:01.000,0:00:03.500"
std::optional<Timing> sbv_timing(std::string_view line) {
  const size_t comma = line.find(',');
  if (comma == std::string_view::npos || line.size() > 64 || line.find_first_not_of("0123456789:., \t") < line.size())
    return std::nullopt;
  return read_timing(std::string(line.substr(0, comma)) + " --> " + std::string(line.substr(comma + 1)), false);
}

// A text ends at the next empty line.
std::vector<Cue> sbv_cues(std::string_view bytes, size_t begin) {
  std::vector<Cue> cues;
  bool in_text = false;
  LineReader lines(bytes, begin);
  for (Range line; lines.next(line);) {
    const std::string_view text = line.of(bytes);
    if (const auto time = sbv_timing(text)) {
      cues.push_back({*time, {}});
      in_text = true;
    } else if (is_blank_line(text)) {
      in_text = false;
    } else if (in_text) {
      cues.back().lines.push_back(line);
    }
  }
  return cues;
}

// A sign without width keeps a line from being read as times. Nothing else is markup.
void encode_sbv(std::string& out, std::string_view text, Range range, bool begins_line, const Passage&) {
  if (begins_line && sbv_timing(range.of(text))) out += "\u2060";
  out += range.of(text);
}

// ---- words of songs -------------------------------------------------------------------------------------------------

// The end of "[00:12.34]" at `at`, its seconds in `seconds`; 0 for anything else.
size_t lrc_time_end(std::string_view line, size_t at, char opens, char closes, double& seconds) {
  if (at >= line.size() || line[at] != opens) return 0;
  const size_t end = line.substr(at, 32).find(closes);
  if (end == std::string_view::npos) return 0;
  const std::string time(line.substr(at + 1, end - 1));
  const auto timing = read_timing(time + " --> " + time, false);
  if (!timing) return 0;
  seconds = timing->begin;
  return at + end + 1;
}

bool has_word_times(std::string_view words) {
  double seconds = 0;
  for (size_t at = words.find('<'); at < words.size(); at = words.find('<', at + 1)) {
    if (lrc_time_end(words, at, '<', '>', seconds) > 0) return true;
  }
  return false;
}

class LrcReader {
 public:
  explicit LrcReader(std::string_view bytes) : bytes_(bytes) {}

  Found read(size_t begin) {
    LineReader lines(bytes_, begin);
    for (Range line; lines.next(line);) take(line);
    return found_in_cues(bytes_, cues_, CueMarkup::plain, {karaoke_, "words"});
  }

 private:
  // A line lasts until the next one.
  void take(Range line) {
    const std::string_view text = line.of(bytes_);
    size_t words = 0;
    double seconds = 0;
    for (size_t end; (end = lrc_time_end(text, words, '[', ']', seconds)) > 0;) words = end;
    if (words == 0) return;
    if (!cues_.empty()) cues_.back().time.end = seconds;
    cues_.push_back({{seconds, seconds}, {}, false, true});
    if (has_word_times(text.substr(words)))
      ++karaoke_;
    else
      cues_.back().lines.push_back({line.begin + words, line.end});
  }

  std::string_view bytes_;
  std::vector<Cue> cues_;
  size_t karaoke_ = 0;
};

// A line's beginning holds times, and word times stand in angle brackets; a blank keeps words from being either.
void encode_lrc(std::string& out, std::string_view text, Range range, bool begins_line, const Passage&) {
  double seconds = 0;
  for (size_t i = range.begin; i < range.end; ++i) {
    out += text[i];
    const bool time = text[i] == '[' ? begins_line && lrc_time_end(text, i, '[', ']', seconds) > 0
                                     : lrc_time_end(text, i, '<', '>', seconds) > 0;
    if (time) out += ' ';
  }
}

}  // namespace

const Style kSbvStyle = {.encode = encode_sbv, .balanced_lines = true};
const Style kLrcStyle = {.encode = encode_lrc, .balanced_lines = true};

Result<Found> find_sbv(std::string_view bytes, size_t begin, const Options&) {
  return found_in_cues(bytes, sbv_cues(bytes, begin), CueMarkup::plain, {});
}

Result<Found> find_lrc(std::string_view bytes, size_t begin, const Options&) { return LrcReader(bytes).read(begin); }

}  // namespace lapilli::documents
