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

std::string plain_number(double number) {
  char text[48];
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

std::string milliseconds(double seconds) { return std::to_string(std::llround(seconds * 1000)); }

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// "-->" within a subtitle would be taken for its times. One of its lines is left, however many stand before the head.
std::string without_arrow(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '>' && safe.ends_with("--")) safe.resize(safe.find_last_not_of('-') + 2);  // none: npos + 2 is 1
    safe += c;
  }
  return safe;
}

// What WebVTT would take for a tag or a character's name.
std::string marked_up(const std::string& text) {
  std::string safe;
  for (const char c : text)
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else
      safe += c;
  return safe;
}

// A model that goes on behind the end of a recording is not followed there.
SpokenLine ended_at(double length, SpokenLine line) {
  line.end = std::min(line.end, length);
  line.begin = std::min(line.begin, line.end);
  return line;
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

std::string SubtitleLines::text_of(const std::string& text, const std::vector<int32_t>& ids) const {
  return style_.ids ? list_of(ids, " ") : in_one_field(trimmed(text));
}

std::string SubtitleLines::head() const {
  if (style_.format == SpeechFormat::vtt) return "WEBVTT\n\n";
  if (style_.format != SpeechFormat::tsv) return "";
  return std::string(style_.named ? "file\t" : "") +
         (style_.words ? "start\tend\tconfidence\ttext\n" : "start\tend\ttext\n");
}

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
           ",\"text\":" + json_string(text) + (style_.ids ? ",\"ids\":[" + list_of(part.ids, ",") + "]" : "");
  };
  std::string words;
  for (const SpokenWord& w : line.words)
    words += (words.empty() ? "{" : ",{") + about(w, w.text) + ",\"confidence\":" + plain_number(w.confidence) + "}";
  return "{\"file\":" + json_string(file_) + "," + about(line, trimmed(line.text)) +
         (line.language.empty() ? "" : ",\"language\":" + json_string(line.language)) +
         (style_.words ? ",\"words\":[" + words + "]" : "") +
         (style_.live ? std::string(",\"settled\":") + (line.settled ? "true" : "false") : "") + "}\n";
}

// A word's time stands before it where it is later than the one before and lies within the cue, as WebVTT asks.
std::string SubtitleLines::cue_text(const SpokenLine& line, const std::string& text) const {
  if (!style_.words) return marked_up(text);
  std::string all;
  double last = line.begin;
  for (const SpokenWord& w : line.words) {
    const bool says_time = std::llround(w.begin * 1000) > std::llround(last * 1000) && w.begin < line.end;
    if (says_time) last = w.begin;
    const bool apart = style_.ids || w.text.starts_with(' ');
    all += (apart && !all.empty() ? " " : "") + (says_time ? "<" + clock_time(w.begin, '.') + ">" : "") +
           marked_up(text_of(w.text, w.ids));
  }
  return all;
}

// The arrow may come of two words, so it is looked for in what they make together.
std::string SubtitleLines::subtitle(const SpokenLine& line, const std::string& text) const {
  const bool vtt = style_.format == SpeechFormat::vtt;
  const char dot = vtt ? '.' : ',';
  return clock_time(line.begin, dot) + " --> " + clock_time(line.end, dot) + "\n" +
         without_arrow(vtt ? cue_text(line, text) : text) + "\n\n";
}

std::string SubtitleLines::line(const SpokenLine& line, double length) {
  const std::string text = text_of(line);
  if (style_.format != SpeechFormat::json && text.empty()) return "";
  ++lines_;
  switch (style_.format) {
    case SpeechFormat::srt: return std::to_string(lines_) + "\n" + subtitle(ended_at(length, line), text);
    case SpeechFormat::vtt: return subtitle(ended_at(length, line), text);
    case SpeechFormat::tsv: return rows(line, text);
    case SpeechFormat::json: return object(line);
    case SpeechFormat::text: break;
  }
  return where() + text + "\n";
}

}  // namespace lapilli::cli
