// Writes the results of one recording, each format to its own destination.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/output.hpp"
#include "cli/run/subtitle_lines.hpp"

namespace lapilli::cli {

// The writing functions give the exit code of the first destination that fails.
class SpeechOutput {
 public:
  // `file`: see SubtitleLines.
  explicit SpeechOutput(std::string file) : file_(std::move(file)) {}
  void add(const SpeechStyle& style, Sink& sink) { parts_.push_back({SubtitleLines(style, file_), &sink, style}); }

  int begin();
  int write(const SpokenLine& line, double length);
  // Writes text that may still change, if the format can mark it.
  int write_interim(const SpokenLine& line);
  int end();

 private:
  struct Part {
    SubtitleLines lines;
    Sink* sink;
    SpeechStyle style;
  };
  std::string file_;
  std::vector<Part> parts_;
};

}  // namespace lapilli::cli
