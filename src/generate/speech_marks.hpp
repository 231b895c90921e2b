// Reads the marks of Whisper's prompt (languages, tasks, no timestamps) by their names in the tokenizer: directories
// from before generation_config.json (transformers 4.23 to 4.25) have them nowhere else.
#pragma once

#include "formats/speech_settings.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {

// Fills in what the files left open in `settings`. Languages and tasks only if the decoder's `vocabulary` is as large
// as that of Whisper's multilingual models: the English ones have the same tokens, but were never trained with them.
void read_speech_marks(const Tokenizer& tokenizer, uint64_t vocabulary, SpeechSettings& settings);

}  // namespace lapilli
