// The commands and environments of LaTeX that have a meaning for its words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lapilli::documents {

enum class TexUse {
  unknown,
  pair,       // \emph{words}: a mark among words
  heading,    // \section{words}: a text of its own
  footnote,   // a text of its own within a sentence
  reference,  // \ref{x}: shows a number
  citation,   // follows a word
  kept,       // \texttt{code}: the model sees it
  point,      // no words: \noindent, \vspace{1cm}
  ends,       // no words, between paragraphs: \newpage, \label{x} in a figure
};

struct TexCommand {
  TexUse use = TexUse::unknown;
  uint8_t arguments = 0;     // in front of the words
  bool takes_groups = true;  // false: braces behind it are a group of their own
};
TexCommand tex_command(std::string_view name);

enum class TexEnvironment { unknown, text, title, left };
// title: the first argument has words. left: mathematics, code and pictures.
TexEnvironment tex_environment(std::string_view name);

// The characters that \ss, \ldots and the like stand for; "" for other commands.
std::string_view tex_symbol(std::string_view name);
// The letter with the accent of a command ("'", "c", ...); "" if there is none.
std::string tex_accented(std::string_view accent, std::string_view letter);
bool is_tex_accent(std::string_view name);

}  // namespace lapilli::documents
