#include <algorithm>
#include <regex>
#include <sstream>

#include "random_markup.hpp"

namespace lapilli::documents {

namespace {

std::string clock(size_t tenths, const std::string& hours) {
  return hours + "00:" + std::to_string(10 + tenths / 10) + "." + std::to_string(tenths % 10) + "0";
}

std::string ass_text(Chance& chance) {
  switch (chance.below(9)) {
    case 0: return "{\\i1}" + random_words(chance, 3) + "{\\i0} " + random_words(chance, 4);
    case 1: return "{\\an8\\pos(10,20)}" + random_words(chance, 6);
    case 2: return random_words(chance, 4) + "\\N" + random_words(chance, 4);
    case 3: return "- " + random_words(chance, 3) + "\\N- " + random_words(chance, 3);
    case 4: return random_words(chance, 2) + "{a comment}" + " " + random_words(chance, 3);
    case 5: return "{\\p1}m 0 0 l 10 10{\\p0}";
    case 6: return "{\\k20}ka{\\k30}ra{\\kf10}oke";
    case 7: return "42\\h000 " + random_words(chance, 4) + ", yes";
    default: return random_words(chance, 8);
  }
}

std::vector<std::string> lines_in(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string random_ass(Chance& chance) {
  const std::string end = chance.one_in(4) ? "\r\n" : "\n";
  std::string out = "[Script Info]" + end + "Title: The words" + end + end + "[V4+ Styles]" + end +
                    "Style: Default,Arial,20" + end + end + "[Events]" + end +
                    "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text" + end;
  for (size_t i = 0, n = 1 + chance.below(8); i < n; ++i) {
    out += std::string(chance.one_in(8) ? "Comment" : "Dialogue") + ": 0," + clock(i * 20, "0:") + "," +
           clock(i * 20 + 15, "0:") + "," + chance.of({"Default", "Default", "Sign"}) + "," +
           chance.of({"", "", "Bob"}) + ",0,0,0,," + ass_text(chance) + end;
  }
  return out;
}

std::string random_sbv(Chance& chance) {
  std::string out;
  for (size_t i = 0, n = 1 + chance.below(6); i < n; ++i) {
    out += clock(i * 20, "0:") + "0," + clock(i * 20 + 15, "0:") + "0\n" + random_words(chance, 6) +
           (chance.one_in(2) ? "\n" + random_words(chance, 5) : "") + "\n\n";
  }
  return out;
}

std::string random_lrc(Chance& chance) {
  std::string out = "[ar:A Singer]\n[ti:The song]\n[length: 2:23]\n\n";
  for (size_t i = 0, n = 1 + chance.below(8); i < n; ++i) {
    const std::string time = "[" + clock(i * 20, "") + "]";
    out += time + (chance.one_in(4) ? time : "");
    if (chance.one_in(6))
      out += "<00:10.20> La <00:10.40> la";
    else if (!chance.one_in(6))
      out += " " + random_words(chance, 6);
    out += "\n";
  }
  return out;
}

Skeleton ass_skeleton(std::string_view text) {
  static const std::regex dialogue("^(Dialogue:(?:[^,]*,){9})([^]*)$"), block("\\\\[{}]|\\{[^}]*\\}");
  Skeleton s;
  for (const std::string& line : lines_in(text)) {
    std::smatch parts;
    const bool spoken = std::regex_match(line, parts, dialogue);
    s.order.push_back(spoken ? parts[1].str() : line);
    const std::string words = spoken ? parts[2].str() : "";
    for (std::sregex_iterator at(words.begin(), words.end(), block), end; at != end; ++at)
      if (at->str().size() > 2) s.inside.push_back(std::to_string(s.order.size()) + at->str());
  }
  std::sort(s.inside.begin(), s.inside.end());
  return s;
}

Skeleton sbv_skeleton(std::string_view text) {
  static const std::regex time("^[0-9:.]+,[0-9:.]+$");
  Skeleton s;
  bool in_text = false;
  for (const std::string& line : lines_in(text)) {
    const bool times = std::regex_match(line, time);
    if (times || line.empty()) s.order.push_back(line);
    if (!times && !line.empty() && !in_text) s.order.push_back("text");
    in_text = !times && !line.empty();
  }
  return s;
}

Skeleton lrc_skeleton(std::string_view text) {
  static const std::regex times("^((?:\\[[^\\]]*\\])*)([^]*)$");
  Skeleton s;
  for (const std::string& line : lines_in(text)) {
    std::smatch parts;
    std::regex_match(line, parts, times);
    s.order.push_back(parts[1].str() + (parts[2].str().find('<') == 0 ? parts[2].str() : ""));
  }
  return s;
}

std::string random_inline(Chance& chance, const std::string& blank, size_t pieces,
                          const std::function<std::string(size_t)>& piece) {
  std::string out = random_words(chance, 3);
  for (size_t n = 1 + chance.below(4); n > 0; --n) {
    const size_t sort = chance.below(pieces);
    out += " " + (sort < 2 ? random_words(chance, 5, chance.one_in(4) ? blank : " ") : piece(sort));
  }
  return out + " " + random_words(chance, 2);
}

}  // namespace lapilli::documents
