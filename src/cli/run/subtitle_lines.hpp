// Segments of speech as text, subtitles, JSON and TSV.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lapilli::cli {

enum class SpeechFormat : uint8_t { text, srt, vtt, json, tsv };
const char* ending_of(SpeechFormat format);  // ".srt"

struct SpokenLine {
  double begin = 0, end = 0;  // seconds
  std::string text;
  std::vector<int32_t> ids;
};

// Of one recording; each piece is complete where it ends.
class SubtitleLines {
 public:
  // `file` is what JSON says of where a segment comes from; `ids` writes ids instead of words.
  SubtitleLines(SpeechFormat format, std::string file, bool ids) : format_(format), file_(std::move(file)), ids_(ids) {}
  [[nodiscard]] std::string head() const;
  std::string line(const SpokenLine& line);

 private:
  [[nodiscard]] std::string words(const SpokenLine& line) const;
  SpeechFormat format_;
  std::string file_;
  bool ids_;
  uint64_t lines_ = 0;
};

}  // namespace lapilli::cli
