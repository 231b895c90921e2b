#include "subtitles/subtitle_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace lapilli::subtitles {

namespace {

// "00:01:02,345"; hours may have more digits.
std::string clock_time(double seconds, char before_fraction) {
  const long long ms = std::llround(std::max(seconds, 0.0) * 1000);
  char text[48];
  std::snprintf(text, sizeof text, "%02lld:%02lld:%02lld%c%03lld", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60,
                before_fraction, ms % 1000);
  return text;
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

// Line breaks and tabs would end a cue's line.
std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text;
}

}  // namespace

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::string list_of(const std::vector<int32_t>& ids, const char* between) {
  std::string text;
  for (const int32_t id : ids) text += (text.empty() ? "" : between) + std::to_string(id);
  return text;
}

std::string shown_text(const std::string& text, const std::vector<int32_t>& ids, bool as_ids) {
  return as_ids ? list_of(ids, " ") : on_one_line(trimmed(text));
}

// A word's time precedes it if it is later than the last one and within the cue, as WebVTT requires.
std::string SubtitleWriter::cue_text(const Cue& cue) const {
  std::string all;
  double last = cue.begin;
  for (const auto& words : cue.lines) {
    if (!all.empty()) all += '\n';
    bool first = true;
    for (const SpokenWord& w : words) {
      const bool says_time =
          style_.vtt && std::llround(w.begin * 1000) > std::llround(last * 1000) && w.begin < cue.end;
      if (says_time) last = w.begin;
      const std::string text = shown_text(w.text, w.ids, style_.ids);
      all += (stands_apart(w, style_.ids) && !first ? " " : "") +
             (says_time ? "<" + clock_time(w.begin, '.') + ">" : "") + (style_.vtt ? marked_up(text) : text);
      first = false;
    }
  }
  return all;
}

// An arrow may result from two words, so it is searched for in the joined text.
std::string SubtitleWriter::line(const SpokenLine& line, double length) {
  if (shown_text(line.text, line.ids, style_.ids).empty()) return "";
  const char dot = style_.vtt ? '.' : ',';
  const bool by_words = style_.words && (!style_.vtt || style_.line_width > 0);
  std::string all;
  for (const Cue& whole : cues_of(line, {style_.line_width, style_.line_count, by_words, style_.words, style_.ids})) {
    const Cue cue = ended_at(length, whole);
    all += (style_.vtt ? "" : std::to_string(++cues_) + "\n") + clock_time(cue.begin, dot) + " --> " +
           clock_time(cue.end, dot) + "\n" + without_arrow(cue_text(cue)) + "\n\n";
  }
  return all;
}

}  // namespace lapilli::subtitles
