// Runs recordings through a model for sound, one after the other.
#pragma once

#include <string>

#include "cli/commands.hpp"
#include "cli/files/sound_sources.hpp"
#include "cli/run/excerpt.hpp"
#include "cli/run/speech_model.hpp"
#include "cli/run/subtitle_lines.hpp"
#include "cli/shards/shard_arguments.hpp"

namespace lapilli::cli {

struct TranscribeArguments {
  SoundFiles files;
  std::string raw;        // format of samples without a header; "": files have one
  std::string attention;  // pictures of each word's attention: FILE.svg or .png, FILE-2... for each segment; "": none
  Excerpt excerpt;        // of each recording
  bool live = false;      // show the probable text at the end of the sound so far
  bool vad = false;       // skip parts without speech
  ShardArguments shard;
  std::string list;  // a file that names recordings, or "-"; "": none
  bool force = false, resume = false, no_cache = false, stats = false;
  SpeechStyle style;  // without the format
  SpeechModelRequest model;
  SpeechRequest how;  // without sound and callbacks
};

// The exit code.
int run_transcription(const TranscribeArguments& arguments, const Context& context);

}  // namespace lapilli::cli
