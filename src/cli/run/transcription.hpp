// Recordings through a model that hears, one after the other.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/run/hearing_model.hpp"
#include "cli/run/subtitle_lines.hpp"

namespace lapilli::cli {

struct TranscribeArguments {
  std::vector<std::string> inputs;  // files; "-": standard input
  std::string raw;                  // what samples without a header are; "": files have one
  std::string output;               // a file, or a folder; "": standard output
  std::string attention;            // what each word looked at: FILE.svg or .png, FILE-2... a segment; "": nowhere
  bool live = false;                // what may be said at the end of what has come is shown
  bool force = false, no_cache = false, stats = false;
  SpeechStyle style;
  HearingModelRequest model;
  HearRequest how;  // without sound and callbacks
};

// The exit code.
int run_transcription(const TranscribeArguments& arguments, const Context& context);

}  // namespace lapilli::cli
