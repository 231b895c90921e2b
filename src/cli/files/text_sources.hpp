// Resolves the arguments of a command on text to texts, files and standard input, and to the outputs written for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/arguments/text_arguments.hpp"
#include "cli/files/file_format.hpp"
#include "cli/files/line_reader.hpp"
#include "shards/shard.hpp"

namespace lapilli::cli {

struct Source {
  std::string name;   // of a file; "" for a text, "-" for standard input
  std::string text;   // of a text argument
  std::string below;  // a file's name below the given folder, or the last part of its name
  Format format = Format::lines;
  std::optional<shards::Piece> piece = {};  // the lines of a file that are read; nothing: all
  [[nodiscard]] bool standard_input() const { return name == "-"; }
  [[nodiscard]] bool is_text() const { return name.empty(); }
};

// An output and the sources that go to it.
struct OutputJob {
  std::string target;  // "": standard output
  std::vector<Source> sources;
};

struct FoundJobs {
  std::vector<OutputJob> jobs;
  std::string left_out;  // files in folders that no job has, with the reason; "": none
  bool refused = false;  // a file was refused, which was reported on stderr; the others are there
};

// Classifies arguments and checks files before anything is loaded, so that a missing file, or one without text, fails
// fast. Gives the exit code; errors go to stderr.
int find_jobs(const TextCommand& about, const TextArguments& arguments, FoundJobs& found);

// True if each line of a source is an input of the model; otherwise all of it is one.
bool reads_lines(const TextCommand& about, const TextArguments& arguments, Format format);

// The lines of a text argument; a single one unless `by_lines`.
std::vector<Line> lines_of_argument(const std::string& text, bool by_lines);

// The rest of the input as one line.
Line whole_text(LineReader& reader);

}  // namespace lapilli::cli
