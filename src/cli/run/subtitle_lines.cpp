#include "cli/run/subtitle_lines.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "cli/files/output_names.hpp"
#include "cli/output.hpp"

namespace lapilli::cli {

namespace {

std::string plain_number(double number) {
  char text[48];
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

std::string milliseconds(double seconds) { return std::to_string(std::llround(seconds * 1000)); }

}  // namespace

namespace {
constexpr const char* kSpeechEndings[] = {".txt", ".srt", ".vtt", ".jsonl", ".json", ".tsv"};
}  // namespace

const char* ending_of(SpeechFormat format) { return kSpeechEndings[static_cast<size_t>(format)]; }

std::optional<SpeechFormat> format_of_target(std::string_view name) {
  const auto found = std::find(std::begin(kSpeechEndings), std::end(kSpeechEndings), extension(name));
  if (found == std::end(kSpeechEndings)) return {};
  return static_cast<SpeechFormat>(found - std::begin(kSpeechEndings));
}

std::string SubtitleLines::text_of(const std::string& text, const std::vector<int32_t>& ids) const {
  return subtitles::shown_text(text, ids, style_.ids);
}

std::string SubtitleLines::head() const {
  if (is_subtitles(style_.format)) return writer_.head();
  if (style_.format == SpeechFormat::document) return "{\"file\":" + json_string(file_) + ",\"segments\":[";
  if (style_.format != SpeechFormat::tsv) return "";
  return std::string(style_.named ? "file\t" : "") +
         (style_.words ? "start\tend\tconfidence\ttext\n" : "start\tend\ttext\n");
}

std::string SubtitleLines::tail() const { return style_.format == SpeechFormat::document ? "\n]}\n" : ""; }

std::string SubtitleLines::where() const { return style_.named ? in_one_field(file_) + "\t" : ""; }

std::string SubtitleLines::rows(const SpokenLine& line, const std::string& text) const {
  if (!style_.words) return where() + milliseconds(line.begin) + "\t" + milliseconds(line.end) + "\t" + text + "\n";
  std::string all;
  for (const SpokenWord& w : line.words)
    all += where() + milliseconds(w.begin) + "\t" + milliseconds(w.end) + "\t" + plain_number(w.confidence) + "\t" +
           text_of(w.text, w.ids) + "\n";
  return all;
}

std::string SubtitleLines::object(const SpokenLine& line) const {
  const auto about = [&](const auto& part, const std::string& text) {
    return "\"begin\":" + plain_number(part.begin) + ",\"end\":" + plain_number(part.end) +
           ",\"text\":" + json_string(text) +
           (style_.ids ? ",\"ids\":[" + subtitles::list_of(part.ids, ",") + "]" : "");
  };
  std::string words;
  for (const SpokenWord& w : line.words)
    words += (words.empty() ? "{" : ",{") + about(w, w.text) + ",\"confidence\":" + plain_number(w.confidence) + "}";
  return "{\"file\":" + json_string(file_) + "," + about(line, subtitles::trimmed(line.text)) +
         (line.language.empty() ? "" : ",\"language\":" + json_string(line.language)) +
         (style_.words ? ",\"words\":[" + words + "]" : "") +
         (style_.live ? std::string(",\"final\":") + (line.final ? "true" : "false") : "") + "}";
}

std::string SubtitleLines::line(const SpokenLine& line, double length) {
  const std::string text = text_of(line);
  const bool json = style_.format == SpeechFormat::json || style_.format == SpeechFormat::document;
  if (!json && text.empty()) return "";
  switch (style_.format) {
    case SpeechFormat::srt:
    case SpeechFormat::vtt: return writer_.line(line, length);
    case SpeechFormat::tsv: return rows(line, text);
    case SpeechFormat::json: return object(line) + "\n";
    case SpeechFormat::document: return (objects_++ == 0 ? "\n" : ",\n") + object(line);
    case SpeechFormat::text: break;
  }
  return where() + text + "\n";
}

}  // namespace lapilli::cli
