// Segments of speech as text, subtitles, JSON and TSV.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/run/cues.hpp"
#include "cli/run/spoken_line.hpp"

namespace lapilli::cli {

// `json` is an object a line, `document` one object of all.
enum class SpeechFormat : uint8_t { text, srt, vtt, json, document, tsv };
const char* ending_of(SpeechFormat format);  // ".srt"
// Of a file with this name; nothing for other endings.
std::optional<SpeechFormat> format_of_target(std::string_view name);

// What a file is to say of its segments.
struct SpeechStyle {
  SpeechFormat format = SpeechFormat::text;
  bool ids = false;    // ids instead of words
  bool live = false;   // JSON says what is settled
  bool words = false;  // times and confidence of words: JSON, TSV (a word a line), WebVTT (times alone), SubRip
  bool named = false;  // text and TSV: each line begins with the recording's name and a tab
  // Of subtitles: characters a line, lines a subtitle; 0: no bound. With words they are cut where one begins, of SubRip
  // without bounds before each.
  uint32_t line_width = 0, line_count = 0;
};
// Whether there is room for them.
constexpr bool holds_words(SpeechFormat f) { return f != SpeechFormat::text; }
constexpr bool is_subtitles(SpeechFormat f) { return f == SpeechFormat::srt || f == SpeechFormat::vtt; }

// Of one recording; each piece is complete where it ends.
class SubtitleLines {
 public:
  // `file` is what is said of where a segment comes from: by JSON, and by other formats that name it.
  SubtitleLines(SpeechStyle style, std::string file) : style_(style), file_(std::move(file)) {}
  [[nodiscard]] std::string head() const;
  // Behind the last line.
  [[nodiscard]] std::string tail() const;
  // `length`: of the recording, as far as it is known to go, in seconds. Subtitles end where it does; in JSON and TSV
  // the model's times stand.
  std::string line(const SpokenLine& line, double length = std::numeric_limits<double>::infinity());
  // Its words alone, or ids.
  [[nodiscard]] std::string text_of(const SpokenLine& line) const { return text_of(line.text, line.ids); }

 private:
  [[nodiscard]] std::string text_of(const std::string& text, const std::vector<int32_t>& ids) const;
  [[nodiscard]] std::string where() const;
  [[nodiscard]] std::string rows(const SpokenLine& line, const std::string& text) const;
  [[nodiscard]] std::string object(const SpokenLine& line) const;
  std::string subtitles(const SpokenLine& line, double length);
  [[nodiscard]] std::string cue_text(const Cue& cue) const;

  SpeechStyle style_;
  std::string file_;
  uint64_t cues_ = 0, objects_ = 0;  // so far
};

}  // namespace lapilli::cli
