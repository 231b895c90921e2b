// Formats segments of speech as text, subtitles, JSON and TSV.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "subtitles/spoken_line.hpp"
#include "subtitles/subtitle_writer.hpp"

namespace lapilli::cli {

using subtitles::SpokenLine, subtitles::SpokenWord;

// `json` is one object a line, `document` a single object.
enum class SpeechFormat : uint8_t { text, srt, vtt, json, document, tsv };
const char* ending_of(SpeechFormat format);  // ".srt"
// The format by the file's name; nothing for other endings.
std::optional<SpeechFormat> format_of_target(std::string_view name);

// The content of a file's segments.
struct SpeechStyle {
  SpeechFormat format = SpeechFormat::text;
  bool ids = false;    // ids instead of words
  bool live = false;   // JSON says which text is final
  bool words = false;  // times and confidence of words: JSON, TSV (a word a line), WebVTT (times alone), SubRip
  bool named = false;  // text and TSV: each line begins with the recording's name and a tab
  // For subtitles: characters a line, lines a subtitle; 0: no limit. With words they are cut at word boundaries, in
  // SubRip without limits before each word.
  uint32_t line_width = 0, line_count = 0;
};
// True if the format has room for words.
constexpr bool holds_words(SpeechFormat f) { return f != SpeechFormat::text; }
constexpr bool is_subtitles(SpeechFormat f) { return f == SpeechFormat::srt || f == SpeechFormat::vtt; }

// Formats one recording; each piece of output is complete.
class SubtitleLines {
 public:
  // `file`: the source of segments as JSON names it, and other formats if they name it.
  SubtitleLines(SpeechStyle style, std::string file)
      : style_(style),
        file_(std::move(file)),
        writer_({style.format == SpeechFormat::vtt, style.ids, style.words, style.line_width, style.line_count}) {}
  [[nodiscard]] std::string head() const;
  // The output behind the last line.
  [[nodiscard]] std::string tail() const;
  // `length`: of the recording, as far as it is known, in seconds. Subtitles end there; JSON and TSV keep the model's
  // times.
  std::string line(const SpokenLine& line, double length = std::numeric_limits<double>::infinity());
  // Only its text, or ids.
  [[nodiscard]] std::string text_of(const SpokenLine& line) const { return text_of(line.text, line.ids); }

 private:
  [[nodiscard]] std::string text_of(const std::string& text, const std::vector<int32_t>& ids) const;
  [[nodiscard]] std::string where() const;
  [[nodiscard]] std::string rows(const SpokenLine& line, const std::string& text) const;
  [[nodiscard]] std::string object(const SpokenLine& line) const;

  SpeechStyle style_;
  std::string file_;
  subtitles::SubtitleWriter writer_;
  uint64_t objects_ = 0;  // so far
};

}  // namespace lapilli::cli
