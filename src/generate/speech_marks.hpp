// The marks of Whisper's prompt (languages, tasks, no timestamps) by their names in the tokenizer: directories saved
// before there was a generation_config.json (transformers 4.23 to 4.25) say them nowhere else.
#pragma once

#include "formats/speech_settings.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {

// Sets in `settings` what the files left open. Languages and tasks only if the `vocabulary` (of the decoder) is as
// large as those of Whisper's multilingual models: the English ones have the same tokens, and were never trained with
// them.
void read_speech_marks(const Tokenizer& tokenizer, uint64_t vocabulary, SpeechSettings& settings);

}  // namespace lapilli
