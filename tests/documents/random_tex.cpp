#include <algorithm>
#include <regex>

#include "random_markup.hpp"

namespace lapilli::documents {

namespace {

std::string tex_inline(Chance& chance, size_t depth);

std::string tex_piece(Chance& chance, size_t sort, size_t depth) {
  switch (sort) {
    case 2:
      return chance.of({"$x_1 + \\alpha$", "\\(y\\)", "\\texttt{f\\_x}", "\\verb|a b|", "\\url{http://a.example}"});
    case 3: return chance.of({"caf\\'e", "50\\,\\%", "Stra\\ss{}e", "a -- b", "``so''", "\\LaTeX{} is", "R\\&D"});
    case 4: return chance.of({"figure~\\ref{fig:a}", "word~\\cite{k}", "\\unknown[a]{b c}", "\\label{x}", "42~km"});
    case 5: return "\\emph{" + tex_inline(chance, depth + 1) + "}";
    case 6: return "{\\bf " + random_words(chance, 2) + "}";
    case 7: return "\\href{http://a.example/\\%20}{" + random_words(chance, 3) + "}";
    case 8: return random_words(chance, 2) + "\\footnote{" + tex_inline(chance, depth + 1) + "}";
    default: return "\\textcolor{red}{" + random_words(chance, 2) + "}";
  }
}

std::string tex_inline(Chance& chance, size_t depth) {
  return random_inline(chance, "\n  ", depth > 2 ? 5 : 10, [&](size_t sort) { return tex_piece(chance, sort, depth); });
}

std::string tex_block(Chance& chance) {
  switch (chance.below(11)) {
    case 0: return "\\section{" + tex_inline(chance, 3) + "}\\label{sec:a}\n";
    case 1: return "\\subsection*{" + random_words(chance, 3) + "}\n" + tex_inline(chance, 0) + "\n";
    case 2:
      return "\\begin{itemize}[noitemsep]\n  \\item " + tex_inline(chance, 0) + "\n  \\item[" +
             random_words(chance, 2) + "] " + tex_inline(chance, 0) + "\n\\end{itemize}\n";
    case 3:
      return random_words(chance, 5) + "\n\\begin{equation}\n a < b \\text{ if } c\n\\end{equation}\n" +
             random_words(chance, 5) + "\n";
    case 4: return "\\begin{verbatim}\n some {code % \\x\n\\end{verbatim}\n";
    case 5:
      return "\\begin{tabular}{lr}\n\\hline\n" + random_words(chance, 2) + " & " + tex_inline(chance, 3) +
             " \\\\\n 42 & \\multicolumn{2}{c}{" + random_words(chance, 2) + "} \\\\[2pt]\n\\end{tabular}\n";
    case 6: return random_words(chance, 4) + " % a comment here\n" + random_words(chance, 4) + "\n";
    case 7: return "% only a comment: \\emph{\n" + tex_inline(chance, 0) + "\n";
    case 8:
      return "\\begin{figure}[ht]\n\\centering\\includegraphics[width=1cm]{a.png}\n\\caption[" +
             random_words(chance, 2) + "]{" + tex_inline(chance, 0) + "}\n\\end{figure}\n";
    case 9: return "\\[ x = \\frac{1}{2} \\]\n" + tex_inline(chance, 0) + "\\\\\n" + random_words(chance, 4) + "\n";
    default: return tex_inline(chance, 0) + "\n";
  }
}

// Whole pieces, so that what is inside verbatim is one.
const std::regex& tex_token() {
  static const std::regex token(
      "\\\\begin\\{(verbatim|equation)\\}[^]*?\\\\end\\{\\1\\}|\\\\verb\\|[^|]*\\||\\\\\\[[^]*?\\\\\\]|\\$[^$]*\\$|"
      "\\\\\\([^]*?\\\\\\)|%[^\\n]*|\\\\(?:begin|end)\\{[a-z]*\\}(?:\\[[a-z]*\\]|\\{[a-z]*\\})*|"
      "\\\\(?:cite|ref|label|url|unknown|texttt|includegraphics|href|textcolor)\\*?(?:\\[[^\\]]*\\])?"
      "(?:\\{(?:\\\\.|[^{}\\\\])*\\})?|\\\\multicolumn\\{2\\}\\{c\\}|\\n[ ]*\\n|"
      "\\\\[a-zA-Z]+\\*?|\\\\\\\\|\\\\[^a-zA-Z]|[{}&]");
  return token;
}

// A stand-in of a character may be written in another way.
bool is_character(const std::string& token) {
  static const std::regex character(
      "\\\\[%&#$_{}'`^\",]|\\\\(ss|ldots|text[a-z]*(left|less|greater|slash|tilde|circum))");
  return std::regex_match(token, character);
}

bool moves(const std::string& token) {
  static const std::regex inside(
      "\\$[^]*|\\\\\\([^]*|\\\\(verb|texttt|url|cite|ref|label|unknown|LaTeX|emph|bf|href|textcolor)\\b[^]*|[{}]");
  return std::regex_match(token, inside);
}

}  // namespace

std::string random_tex(Chance& chance) {
  std::string out;
  const bool whole = chance.one_in(2);
  if (whole)
    out =
        "\\documentclass[a4paper]{article}\n\\usepackage[T1]{fontenc}\n\\newcommand{\\x}[1]{some #1 words}\n"
        "\\title{" +
        random_words(chance, 4) + "}\n\\author{A. Writer}\n\\begin{document}\n\\maketitle\n\n";
  for (size_t n = 1 + chance.below(5); n > 0; --n) out += tex_block(chance) + "\n";
  return out + (whole ? "\\end{document}\n" : "");
}

Skeleton tex_skeleton(std::string_view text) {
  Skeleton s;
  size_t depth = 0;
  // Braces that only end a command's name.
  static const std::regex ends(
      "(\\\\(?:ldots|text(?:quoteleft|backslash|asciitilde|asciicircum|less|greater)|ss|LaTeX)|[-'])\\{\\}");
  const std::string clean = std::regex_replace(std::string(text), ends, "$1 ");
  for (std::sregex_iterator at(clean.begin(), clean.end(), tex_token()), end; at != end; ++at) {
    const std::string token = at->str();
    if (is_character(token)) continue;
    if (token == "{") ++depth;
    if (token == "}" && depth-- == 0) s.error = "a brace closes nothing";
    if (moves(token))
      s.inside.push_back(std::to_string(s.order.size()) + token);
    else
      s.order.push_back(token);
  }
  if (depth > 0 && s.error.empty()) s.error = "a brace is open";
  std::sort(s.inside.begin(), s.inside.end());
  return s;
}

}  // namespace lapilli::documents
