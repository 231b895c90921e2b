// What the arguments of a command on text are: texts, files, standard input.
#pragma once

#include <string>
#include <vector>

#include "cli/line_reader.hpp"
#include "cli/text_arguments.hpp"

namespace lapilli::cli {

struct Source {
  std::string name;  // of a file; "" for a text, "-" for standard input
  std::string text;  // of an argument
  [[nodiscard]] bool standard_input() const { return name == "-"; }
};

// Says what arguments are before anything is loaded, so that a file that is not there costs nothing. The exit code;
// what is wrong is said on stderr.
int find_sources(const TextArguments& arguments, std::vector<Source>& sources);

// The lines of a text from an argument; the whole as one, unless `by_lines`.
std::vector<Line> lines_of_argument(const std::string& text, bool by_lines);

// Everything that is left, as one line.
Line whole_text(LineReader& reader);

}  // namespace lapilli::cli
