#include "cli/run/subtitle_lines.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "cli/files/output_names.hpp"
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

// "-->" within a subtitle would be read as its times. A single dash is left of any number before the head.
std::string without_arrow(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '>' && safe.ends_with("--")) safe.resize(safe.find_last_not_of('-') + 2);  // none: npos + 2 is 1
    safe += c;
  }
  return safe;
}

// Escapes characters that WebVTT would read as a tag or a character reference.
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

// Models may run on behind the end of a recording; cues do not.
Cue ended_at(double length, Cue cue) {
  cue.end = std::min(cue.end, length);
  cue.begin = std::min(cue.begin, cue.end);
  return cue;
}

std::string list_of(const std::vector<int32_t>& ids, const char* between) {
  std::string text;
  for (const int32_t id : ids) text += (text.empty() ? "" : between) + std::to_string(id);
  return text;
}

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
  return style_.ids ? list_of(ids, " ") : in_one_field(trimmed(text));
}

std::string SubtitleLines::head() const {
  if (style_.format == SpeechFormat::vtt) return "WEBVTT\n\n";
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
           ",\"text\":" + json_string(text) + (style_.ids ? ",\"ids\":[" + list_of(part.ids, ",") + "]" : "");
  };
  std::string words;
  for (const SpokenWord& w : line.words)
    words += (words.empty() ? "{" : ",{") + about(w, w.text) + ",\"confidence\":" + plain_number(w.confidence) + "}";
  return "{\"file\":" + json_string(file_) + "," + about(line, trimmed(line.text)) +
         (line.language.empty() ? "" : ",\"language\":" + json_string(line.language)) +
         (style_.words ? ",\"words\":[" + words + "]" : "") +
         (style_.live ? std::string(",\"final\":") + (line.final ? "true" : "false") : "") + "}";
}

// A word's time precedes it if it is later than the last one and within the cue, as WebVTT requires.
std::string SubtitleLines::cue_text(const Cue& cue) const {
  const bool vtt = style_.format == SpeechFormat::vtt;
  std::string all;
  double last = cue.begin;
  for (const auto& words : cue.lines) {
    if (!all.empty()) all += '\n';
    bool first = true;
    for (const SpokenWord& w : words) {
      const bool says_time = vtt && std::llround(w.begin * 1000) > std::llround(last * 1000) && w.begin < cue.end;
      if (says_time) last = w.begin;
      const std::string text = text_of(w.text, w.ids);
      all += (stands_apart(w, style_.ids) && !first ? " " : "") +
             (says_time ? "<" + clock_time(w.begin, '.') + ">" : "") + (vtt ? marked_up(text) : text);
      first = false;
    }
  }
  return all;
}

// An arrow may result from two words, so it is searched for in the joined text.
std::string SubtitleLines::subtitles(const SpokenLine& line, double length) {
  const bool srt = style_.format == SpeechFormat::srt;
  const char dot = srt ? ',' : '.';
  const bool by_words = style_.words && (srt || style_.line_width > 0);
  std::string all;
  for (const Cue& whole : cues_of(line, {style_.line_width, style_.line_count, by_words, style_.words, style_.ids})) {
    const Cue cue = ended_at(length, whole);
    all += (srt ? std::to_string(++cues_) + "\n" : "") + clock_time(cue.begin, dot) + " --> " +
           clock_time(cue.end, dot) + "\n" + without_arrow(cue_text(cue)) + "\n\n";
  }
  return all;
}

std::string SubtitleLines::line(const SpokenLine& line, double length) {
  const std::string text = text_of(line);
  const bool json = style_.format == SpeechFormat::json || style_.format == SpeechFormat::document;
  if (!json && text.empty()) return "";
  switch (style_.format) {
    case SpeechFormat::srt:
    case SpeechFormat::vtt: return subtitles(line, length);
    case SpeechFormat::tsv: return rows(line, text);
    case SpeechFormat::json: return object(line) + "\n";
    case SpeechFormat::document: return (objects_++ == 0 ? "\n" : ",\n") + object(line);
    case SpeechFormat::text: break;
  }
  return where() + text + "\n";
}

}  // namespace lapilli::cli
