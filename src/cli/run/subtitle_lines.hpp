// Segments of speech as text, subtitles, JSON and TSV.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace lapilli::cli {

enum class SpeechFormat : uint8_t { text, srt, vtt, json, tsv };
const char* ending_of(SpeechFormat format);  // ".srt"

struct SpokenWord {
  double begin = 0, end = 0;  // seconds
  std::string text;
  std::vector<int32_t> ids;
  double confidence = 0;
};
struct SpokenLine {
  double begin = 0, end = 0;  // seconds
  std::string text;
  std::vector<int32_t> ids;
  std::vector<SpokenWord> words;
  bool settled = true;
  std::string language;  // a code; "": the model knows none
};

// What a file is to say of its segments.
struct SpeechStyle {
  SpeechFormat format = SpeechFormat::text;
  bool ids = false;    // ids instead of words
  bool live = false;   // JSON says what is settled
  bool words = false;  // times and confidence of words: JSON, TSV (a word a line) and WebVTT (times alone)
  bool named = false;  // text and TSV: each line begins with the recording's name and a tab
};
// Whether there is room for them.
constexpr bool holds_words(SpeechFormat f) {
  return f == SpeechFormat::json || f == SpeechFormat::tsv || f == SpeechFormat::vtt;
}

// Of one recording; each piece is complete where it ends.
class SubtitleLines {
 public:
  // `file` is what is said of where a segment comes from: by JSON, and by other formats that name it.
  SubtitleLines(SpeechStyle style, std::string file) : style_(style), file_(std::move(file)) {}
  [[nodiscard]] std::string head() const;
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
  [[nodiscard]] std::string subtitle(const SpokenLine& line, const std::string& text) const;
  [[nodiscard]] std::string cue_text(const SpokenLine& line, const std::string& text) const;

  SpeechStyle style_;
  std::string file_;
  uint64_t lines_ = 0;
};

}  // namespace lapilli::cli
