#include "cli/run/subtitle_lines.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/output.hpp"

namespace lapilli::cli {

namespace {

// "00:01:02,345"; hours may have more digits.
std::string clock_time(double seconds, char before_fraction) {
  const long long ms = std::llround(std::max(seconds, 0.0) * 1000);
  char text[48];
  std::snprintf(text, sizeof text, "%02lld:%02lld:%02lld%c%03lld", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60,
                before_fraction, ms % 1000);
  return text;
}

std::string plain_number(double seconds) {
  char text[48];
  std::snprintf(text, sizeof text, "%.2f", seconds);
  return text;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// Line ends and tabs would end a line of TSV or a subtitle early.
std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text;
}

// "-->" within a subtitle would be taken for its times.
std::string without_arrow(std::string text) {
  for (size_t at = 0; (at = text.find("-->", at)) != std::string::npos;) text.replace(at, 3, "->");
  return text;
}

std::string list_of(const std::vector<int32_t>& ids, const char* between) {
  std::string text;
  for (const int32_t id : ids) text += (text.empty() ? "" : between) + std::to_string(id);
  return text;
}

}  // namespace

const char* ending_of(SpeechFormat format) {
  constexpr const char* kSpeechEndings[] = {".txt", ".srt", ".vtt", ".jsonl", ".tsv"};
  return kSpeechEndings[static_cast<size_t>(format)];
}

std::string SubtitleLines::words(const SpokenLine& line) const {
  return ids_ ? list_of(line.ids, " ") : on_one_line(trimmed(line.text));
}

std::string SubtitleLines::head() const {
  if (format_ == SpeechFormat::vtt) return "WEBVTT\n\n";
  return format_ == SpeechFormat::tsv ? "start\tend\ttext\n" : "";
}

std::string SubtitleLines::line(const SpokenLine& line) {
  const std::string text = words(line);
  if (format_ != SpeechFormat::json && text.empty()) return "";
  ++lines_;
  switch (format_) {
    case SpeechFormat::srt:
      return std::to_string(lines_) + "\n" + clock_time(line.begin, ',') + " --> " + clock_time(line.end, ',') + "\n" +
             without_arrow(text) + "\n\n";
    case SpeechFormat::vtt:
      return clock_time(line.begin, '.') + " --> " + clock_time(line.end, '.') + "\n" + without_arrow(text) + "\n\n";
    case SpeechFormat::tsv: {
      const auto ms = [](double s) { return std::to_string(std::llround(s * 1000)); };
      return ms(line.begin) + "\t" + ms(line.end) + "\t" + text + "\n";
    }
    case SpeechFormat::json:
      return "{\"file\":" + json_string(file_) + ",\"begin\":" + plain_number(line.begin) +
             ",\"end\":" + plain_number(line.end) + ",\"text\":" + json_string(trimmed(line.text)) +
             (ids_ ? ",\"ids\":[" + list_of(line.ids, ",") + "]" : "") + "}\n";
    case SpeechFormat::text: break;
  }
  return text + "\n";
}

}  // namespace lapilli::cli
