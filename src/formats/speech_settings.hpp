// A directory's settings for transcription (Whisper): ids of languages and tasks, and the cross-attention heads that
// tell where a word is spoken.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli {

// Version 4 of transformers wrote the prompt as ids by position. A position without an id is free.
struct ForcedDecoderId {
  uint32_t position = 0;
  std::optional<int32_t> id;
};

struct SpeechSettings {
  std::map<std::string, int32_t> languages, tasks;             // by token: "<|en|>"; by name: "transcribe"
  std::string language, task;                                  // requested by the directory; empty: left open
  std::vector<ForcedDecoderId> forced;                         // forced_decoder_ids, if they begin at position 1
  std::optional<int32_t> previous_start;                       // precedes the text of earlier windows
  std::optional<int32_t> no_timestamps;                        // the id just before the first timestamp's
  std::vector<std::pair<uint32_t, uint32_t>> alignment_heads;  // layer, head
  bool heads_by_default = false;                               // no file names them: those that seem likely
  uint32_t median_filter = 7;
  bool return_timestamps = false;
};

// From generation_config.json; from config.json the width of the median filter, and the forced ids if the other file
// has none. Damaged values are an error that names the file.
Result<SpeechSettings> read_speech_settings(const Files& files);

}  // namespace lapilli
