#include <algorithm>
#include <regex>
#include <sstream>

#include "random_markup.hpp"

namespace lapilli::documents {

namespace {

std::string asciidoc_piece(Chance& chance, size_t sort) {
  switch (sort) {
    case 2:
      return chance.of({"`f(x)`", "{name}", "<<place>>", "kbd:[Ctrl+C]", "stem:[x^2]", "H~2~O", "(C)", "+as is+"});
    case 3: return "*" + random_words(chance, 3) + "*";
    case 4: return "_" + random_words(chance, 3) + "_";
    case 5: return "https://a.example/b[" + random_words(chance, 2) + "]";
    case 6: return "<<place," + random_words(chance, 2) + ">>";
    case 7: return chance.of({"\\*no\\*", "a & b", "2 * 3", "C++ and", "*_both_*"});
    default: return random_words(chance, 2) + "footnote:[" + random_words(chance, 4) + "]";
  }
}

std::string asciidoc_inline(Chance& chance, const std::string& blank) {
  return random_inline(chance, blank, 9, [&](size_t sort) { return asciidoc_piece(chance, sort); });
}

std::string asciidoc_block(Chance& chance) {
  switch (chance.below(12)) {
    case 0: return "== " + asciidoc_inline(chance, " ") + "\n";
    case 1:
      return "* " + asciidoc_inline(chance, "\n") + "\n** " + random_words(chance, 3) + "\n* [x] " +
             random_words(chance, 3) + "\n";
    case 2:
      return ". " + asciidoc_inline(chance, "\n  ") + "\n+\n" + random_words(chance, 4) + "\n. " +
             random_words(chance, 3) + "\n";
    case 3: return "NOTE: " + asciidoc_inline(chance, "\n") + "\n";
    case 4: return "." + random_words(chance, 3) + "\n[source,c]\n----\nint *x; // *code*\n\n  more\n----\n";
    case 5: return "[stem]\n++++\nx^2 *code*\n++++\n";
    case 6:
      return "|===\n|" + random_words(chance, 2) + " |" + asciidoc_inline(chance, " ") + "\n\n2+|" +
             random_words(chance, 3) + "\n|===\n";
    case 7: return "====\n" + asciidoc_inline(chance, "\n") + "\n====\n";
    case 8: return "Term:: " + asciidoc_inline(chance, "\n") + "\nOther::\n  " + random_words(chance, 3) + "\n";
    case 9: return " literal *code* line\n";
    case 10:
      return random_words(chance, 3) + " +\n" + random_words(chance, 3) + "\n// a *comment* of code\n" +
             random_words(chance, 4) + "\n";
    default: return asciidoc_inline(chance, "\n") + "\n";
  }
}

bool stays(const std::string& line) {
  static const std::regex whole(
      "(\\[.*\\]|----|====|\\+\\+\\+\\+|\\|===|\\+|.*code.*|  more|:[a-z]*: .*|A\\. Writer.*|)");
  return std::regex_match(line, whole);
}

}  // namespace

std::string random_asciidoc(Chance& chance) {
  std::string out = "= " + random_words(chance, 3) + "\nA. Writer <a@b.example>\n:name: a value\n\n";
  for (size_t n = 1 + chance.below(6); n > 0; --n) out += asciidoc_block(chance) + "\n";
  return out + "[[place]]\n" + random_words(chance, 3) + "\n";
}

Skeleton asciidoc_skeleton(std::string_view text) {
  static const std::regex begins("^(=+ |\\*+ (?:\\[x\\] )?|\\. |NOTE: |\\.(?=[^ .])|(?:[^|:][^:]*)?:: ?|2\\+\\|)[^]*$"),
      inside(
          "`[^`]*`|\\{name\\}|<<place>>|<<place,|>>|kbd:[^ \\]]*\\]|stem:[^ \\]]*\\]|\\+as is\\+|https:[^\\[]*\\[|"
          "footnote:\\[|~[^~ ]+~");
  Skeleton s;
  std::istringstream lines{std::string(text)};
  bool paragraph = false, in_table = false;
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    const bool whole = stays(line);
    if (line.empty() && !s.order.empty() && s.order.back().empty()) continue;  // the last part of a text has no words
    if (whole) {
      s.order.push_back(line);
    } else if (std::regex_match(line, parts, begins)) {
      const std::string marker = parts[1].str();
      s.order.push_back(marker.find("::") == std::string::npos ? marker : "::");
    } else if (!paragraph) {
      s.order.push_back("text");
    }
    paragraph = !whole || line.starts_with("//");
    const std::string plain = whole ? "" : line;
    in_table ^= line == "|===";
    if (in_table && (plain.starts_with('|') || plain.starts_with("2+|")))
      s.order.push_back("cells " + std::to_string(std::count(plain.begin(), plain.end(), '|')));
    for (std::sregex_iterator at(plain.begin(), plain.end(), inside), end; at != end; ++at)
      s.inside.push_back(at->str()[0] == '~' ? "~" : at->str());
  }
  std::sort(s.inside.begin(), s.inside.end());
  return s;
}

}  // namespace lapilli::documents
