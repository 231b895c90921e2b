#include <algorithm>
#include <regex>
#include <sstream>

#include "random_markup.hpp"

namespace lapilli::documents {

namespace {

std::string rst_piece(Chance& chance, size_t sort) {
  switch (sort) {
    case 2:
      return chance.of({"``f(*x)``", "|name|", "[1]_", ":ref:`area`", "`plain`", "spot_", "http://a.example/x_y"});
    case 3: return "*" + random_words(chance, 3) + "*";
    case 4: return "**" + random_words(chance, 3) + "**";
    case 5: return "`" + random_words(chance, 2) + " <http://a.example/b>`__";
    case 6: return ":doc:`" + random_words(chance, 2) + " <other>`";
    case 7: return chance.of({"a\\*b", "x\\ *y*\\ z", "C:\\\\dir", "R&D <b>", "2 * 3"});
    default: return "`The place`_";
  }
}

std::string rst_inline(Chance& chance, const std::string& blank) {
  return random_inline(chance, blank, 9, [&](size_t sort) { return rst_piece(chance, sort); });
}

std::string rst_heading(Chance& chance, char sign, bool over) {
  const std::string title = random_words(chance, 3);
  const std::string line(title.size() + chance.below(3), sign);
  return (over ? line + "\n" : "") + title + "\n" + line + "\n";
}

std::string rst_block(Chance& chance) {
  switch (chance.below(13)) {
    case 0: return rst_heading(chance, '-', false);
    case 1:
      return "- " + rst_inline(chance, "\n  ") + "\n- " + rst_inline(chance, "\n  ") + "\n\n  * " +
             random_words(chance, 3) + "\n";
    case 2: return "1. " + rst_inline(chance, "\n   ") + "\n2. " + random_words(chance, 3) + "\n";
    case 3: return ".. note:: " + rst_inline(chance, "\n   ") + "\n\n   " + random_words(chance, 4) + "\n";
    case 4: return ".. code-block:: python\n   :linenos:\n\n   x = *y  # `a`\n\n   z\n";
    case 5: return random_words(chance, 3) + " code::\n\n    literal *text*\n\n      more\n";
    case 6: return "A term : kind\n   " + rst_inline(chance, "\n   ") + "\n";
    case 7: return "=====  =====\nA one  B two\n=====  =====\nfalse  *or*\n=====  =====\n";
    case 8: return "+----+----+\n| a  | b  |\n+----+----+\n";
    case 9: return ".. a comment of *many*\n   lines\n";
    case 10: return "    " + rst_inline(chance, "\n    ") + "\n";
    case 11: return "| " + random_words(chance, 4) + "\n| " + random_words(chance, 4) + "\n";
    default: return rst_inline(chance, "\n") + "\n";
  }
}

bool is_code(const std::string& line) {
  static const std::regex code(
      ".*(literal \\*text\\*|more|x = \\*y  # `a`|false  \\*or\\*|A one  B two|\\| a  \\| b  \\|)|   z");
  return std::regex_match(line, code);
}

// The sign of a line of signs; 0 for other lines.
char adornment(const std::string& line) {
  const bool adorns = line.size() > 1 && line.find_first_not_of(line[0]) == std::string::npos && ispunct(line[0]) &&
                      static_cast<unsigned char>(line[0]) < 0x80;
  return adorns ? line[0] : '\0';
}

size_t characters(const std::string& line) {
  return static_cast<size_t>(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string random_rst(Chance& chance) {
  std::string out = rst_heading(chance, '=', chance.one_in(2)) + "\n:Author: A Writer\n\n";
  for (size_t n = 1 + chance.below(6); n > 0; --n) out += rst_block(chance) + "\n";
  return out + ".. [1] " + random_words(chance, 4) +
         "\n\n.. _spot:\n.. _The place: http://c.example\n\n.. |name| replace:: " + random_words(chance, 2) + "\n";
}

Skeleton rst_skeleton(std::string_view text) {
  static const std::regex begins(
      "^( *)(-|\\*|\\d+\\.|\\.\\. [^ ]*::|\\.\\. \\[1\\]|\\.\\. _.*|\\.\\. \\|name\\| replace::|\\|)( [^]*)?$"),
      inside("``[^`]*``|\\*\\*|\\*|`_(?!_)|<[^<>`]*>`_*|:[a-z]*:(?=`)|\\|name\\||\\[1\\]_");
  Skeleton s;
  std::istringstream lines{std::string(text)};
  std::string before;
  bool paragraph = false;
  for (std::string line; std::getline(lines, line); before = line) {
    std::smatch parts;
    if (line.find_first_not_of(' ') == std::string::npos) {
      s.order.push_back("");
      paragraph = false;
    } else if (is_code(line) || line.find("comment") != std::string::npos) {
      s.order.push_back(line);
    } else if (const char sign = adornment(line)) {
      s.order.push_back(std::string(1, sign));
      if (characters(before) > line.size() && before.find(' ') != std::string::npos) s.error = "short: " + line;
    } else if (std::regex_match(line, parts, begins)) {
      const bool words = !parts[2].str().starts_with(".. _");
      s.order.push_back(words ? parts[1].str() + parts[2].str() : line);
      paragraph = true;
    } else if (!paragraph) {
      s.order.push_back(line.substr(0, line.find_first_not_of(' ')) + "text");
      paragraph = true;
    }
    std::string plain = is_code(line) ? "" : std::regex_replace(line, std::regex("\\\\."), "x");
    plain = std::regex_replace(plain, std::regex("(^| )\\*+(?= |$)"), "");
    plain = std::regex_replace(plain, std::regex(" <the place_>"), "");  // a reference by name gets other words
    for (std::sregex_iterator at(plain.begin(), plain.end(), inside), end; at != end; ++at)
      s.inside.push_back(at->str());
  }
  std::sort(s.inside.begin(), s.inside.end());
  return s;
}

}  // namespace lapilli::documents
