// What is written of one recording: each format to a place of its own.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/output.hpp"
#include "cli/run/subtitle_lines.hpp"

namespace lapilli::cli {

// All that write give the exit code, of the first place that cannot be written.
class SpeechOutput {
 public:
  // `file`: as SubtitleLines has it.
  explicit SpeechOutput(std::string file) : file_(std::move(file)) {}
  void add(const SpeechStyle& style, Sink& sink) { parts_.push_back({SubtitleLines(style, file_), &sink, style}); }

  int begin();
  int write(const SpokenLine& line, double length);
  // What may change: where the format can say so.
  int write_draft(const SpokenLine& line);
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
