// What the arguments of a command on text are: texts, files, standard input; and where what becomes of each is written.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments/text_arguments.hpp"
#include "cli/files/file_format.hpp"
#include "cli/files/line_reader.hpp"

namespace lapilli::cli {

struct Source {
  std::string name;   // of a file; "" for a text, "-" for standard input
  std::string text;   // of an argument
  std::string below;  // a file's name below the folder that was given, or its last part
  Format format = Format::lines;
  [[nodiscard]] bool standard_input() const { return name == "-"; }
  [[nodiscard]] bool is_text() const { return name.empty(); }
};

// What is written to one place.
struct OutputJob {
  std::string target;  // "": standard output
  std::vector<Source> sources;
};

struct FoundJobs {
  std::vector<OutputJob> jobs;
  std::string left_out;  // what there is in folders that no job has, and why; "": nothing
  bool refused = false;  // a file was, which was said on stderr; the others are there
};

// Says what arguments are, and looks at the files, before anything is loaded, so that a file that is not there or holds
// no text costs nothing. The exit code; what is wrong is said on stderr.
int find_jobs(const TextCommand& about, const TextArguments& arguments, FoundJobs& found);

// The lines of a text from an argument; the whole as one, unless `by_lines`.
std::vector<Line> lines_of_argument(const std::string& text, bool by_lines);

// Everything that is left, as one line.
Line whole_text(LineReader& reader);

}  // namespace lapilli::cli
