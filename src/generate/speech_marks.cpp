#include "generate/speech_marks.hpp"

#include "text/kinds/whisper_tokenizer.hpp"

namespace lapilli {
namespace {

constexpr uint64_t kMultilingual = 51865;  // openai/whisper: is_multilingual

void read_id(const WhisperTokenizer& tokenizer, const char* mark, std::optional<int32_t>& to) {
  if (to) return;
  if (const int32_t id = tokenizer.token_id(mark); id >= 0) to = id;
}

void read_names(const WhisperTokenizer& tokenizer, SpeechSettings& settings) {
  for (const std::string& code : tokenizer.languages())
    settings.languages.emplace("<|" + code + "|>", tokenizer.language_id(code));
  for (const char* task : {"transcribe", "translate"})
    if (const int32_t id = tokenizer.token_id(std::string("<|") + task + "|>"); id >= 0)
      settings.tasks.emplace(task, id);
}

}  // namespace

void read_speech_marks(const Tokenizer& tokenizer, uint64_t vocabulary, SpeechSettings& settings) {
  const auto* whisper = dynamic_cast<const WhisperTokenizer*>(&tokenizer);
  if (!whisper) return;
  read_id(*whisper, "<|notimestamps|>", settings.no_timestamps);
  read_id(*whisper, "<|startofprev|>", settings.previous_start);
  if (vocabulary >= kMultilingual && settings.languages.empty() && settings.tasks.empty())
    read_names(*whisper, settings);
}

}  // namespace lapilli
