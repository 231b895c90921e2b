// Recordings through a model that hears, one after the other.
#pragma once

#include <string>

#include "cli/commands.hpp"
#include "cli/files/sound_sources.hpp"
#include "cli/run/excerpt.hpp"
#include "cli/run/hearing_model.hpp"
#include "cli/run/subtitle_lines.hpp"

namespace lapilli::cli {

struct TranscribeArguments {
  SoundFiles files;
  std::string raw;        // what samples without a header are; "": files have one
  std::string attention;  // what each word looked at: FILE.svg or .png, FILE-2... a segment; "": nowhere
  Excerpt excerpt;        // of each recording
  bool live = false;      // what may be said at the end of what has come is shown
  bool vad = false;       // what nobody speaks in is left out
  bool force = false, resume = false, no_cache = false, stats = false;
  SpeechStyle style;  // without the format
  HearingModelRequest model;
  HearRequest how;  // without sound and callbacks
};

// The exit code.
int run_transcription(const TranscribeArguments& arguments, const Context& context);

}  // namespace lapilli::cli
