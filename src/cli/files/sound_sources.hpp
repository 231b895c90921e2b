// Finds the recordings among the inputs of `lapilli transcribe`, and the files to write for each.
#pragma once

#include <string>
#include <vector>

#include "cli/run/subtitle_lines.hpp"

namespace lapilli::cli {

struct SoundFiles {
  std::vector<std::string> inputs;  // files, folders; "-": standard input
  std::string output, suffix;       // as typed
  std::vector<SpeechFormat> formats;
  bool raw = false;  // the input has no header

  // True if every recording has output files of its own.
  [[nodiscard]] bool one_each() const;
  // True if files are written, which get their names once they are complete.
  [[nodiscard]] bool to_files() const { return !output.empty() || one_each(); }
};

struct SoundSource {
  std::string name;                  // of a file; "-": standard input
  std::vector<std::string> targets;  // one for each format; none: standard output
};

// Lists the recordings, in order, before anything is loaded, and notes on files that folders leave out. Gives the exit
// code; errors go to stderr.
int find_recordings(const SoundFiles& files, std::vector<SoundSource>& sources, std::vector<std::string>& notes);

}  // namespace lapilli::cli
