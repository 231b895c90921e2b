#include "subtitles/cues.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace lapilli::subtitles {

namespace {

using Words = std::vector<SpokenWord>;

// Counts the first bytes of UTF-8 characters.
size_t characters_in(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

size_t width_of(const SpokenWord& word, bool ids) {
  if (!ids) return characters_in(word.text) - (word.text.starts_with(' ') ? 1 : 0);
  size_t width = word.ids.empty() ? 0 : word.ids.size() - 1;
  for (const int32_t id : word.ids) width += std::to_string(id).size();
  return width;
}

// Words between blanks, all at the segment's time.
Words words_of_text(const SpokenLine& line) {
  constexpr const char* kWordGaps = " \t\r\n";
  Words words;
  for (size_t at = line.text.find_first_not_of(kWordGaps); at != std::string::npos;) {
    const size_t end = std::min(line.text.find_first_of(kWordGaps, at), line.text.size());
    words.push_back({line.begin, line.end, " " + line.text.substr(at, end - at), {}, 0});
    at = line.text.find_first_not_of(kWordGaps, end);
  }
  return words;
}

Words words_of_ids(const SpokenLine& line) {
  Words words;
  for (const int32_t id : line.ids) words.push_back({line.begin, line.end, "", {id}, 0});
  return words;
}

std::vector<Words> lines_of(Words words, const CueShape& shape) {
  std::vector<Words> lines;
  size_t used = 0;
  for (SpokenWord& word : words) {
    const size_t width = width_of(word, shape.ids), blank = stands_apart(word, shape.ids) ? 1 : 0;
    const bool has_room = !lines.empty() && used + blank + width <= shape.width;
    if (!has_room) lines.emplace_back();
    used = has_room ? used + blank + width : width;
    lines.back().push_back(std::move(word));
  }
  return lines;
}

// A subtitle without duration would be invisible: it stays until the next one.
void give_time(std::vector<Cue>& cues, double end_of_segment) {
  for (size_t i = 0; i < cues.size(); ++i) {
    if (cues[i].end > cues[i].begin) continue;
    cues[i].end = std::max(cues[i].begin, i + 1 < cues.size() ? cues[i + 1].begin : end_of_segment);
  }
}

std::vector<Cue> cues_of_words(const SpokenLine& line, const CueShape& shape) {
  auto lines = lines_of(line.words, {std::max(shape.width, 1u), 0, true, true, shape.ids});
  const size_t most = std::max(shape.lines, 1u);
  std::vector<Cue> cues;
  for (Words& words : lines) {
    if (cues.empty() || cues.back().lines.size() == most) cues.push_back({words.front().begin, 0, {}});
    cues.back().end = words.back().end;
    cues.back().lines.push_back(std::move(words));
  }
  give_time(cues, line.end);
  return cues;
}

}  // namespace

std::vector<Cue> cues_of(const SpokenLine& line, const CueShape& shape) {
  if (shape.by_words && !line.words.empty()) return cues_of_words(line, shape);
  if (shape.width > 0)
    return {{line.begin, line.end, lines_of(shape.ids ? words_of_ids(line) : words_of_text(line), shape)}};
  if (shape.word_times && !line.words.empty()) return {{line.begin, line.end, {line.words}}};
  return {{line.begin, line.end, {{{line.begin, line.end, line.text, line.ids, 0}}}}};
}

}  // namespace lapilli::subtitles
