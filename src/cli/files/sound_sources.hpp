// What the inputs of `lapilli transcribe` are, and what is written of each.
#pragma once

#include <string>
#include <vector>

#include "cli/run/subtitle_lines.hpp"

namespace lapilli::cli {

struct SoundFiles {
  std::vector<std::string> inputs;  // files, folders; "-": standard input
  std::string output, suffix;       // as typed
  std::vector<SpeechFormat> formats;
  bool raw = false;  // what comes has no header

  // Every recording has files of its own.
  [[nodiscard]] bool one_each() const;
  // Something is written that gets its name when it is complete.
  [[nodiscard]] bool to_files() const { return !output.empty() || one_each(); }
};

struct SoundSource {
  std::string name;                  // of a file; "-": standard input
  std::vector<std::string> targets;  // of each format; none: standard output
};

// The recordings, in order, before anything is loaded, and notes on what of folders is left out and why. The exit code;
// what is wrong is said on stderr.
int find_recordings(const SoundFiles& files, std::vector<SoundSource>& sources, std::vector<std::string>& notes);

}  // namespace lapilli::cli
