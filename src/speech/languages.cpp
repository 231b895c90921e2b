#include "speech/languages.hpp"

#include <algorithm>

namespace lapilli::speech {

Result<GenerateRequest> language_request(const Model& model,
                                         std::span<const std::shared_ptr<const model::Features>> windows) {
  if (model.speech().languages.empty())
    return fail(ErrorCode::unsupported, "the model knows one language only: there is nothing to detect");
  GenerateRequest r;
  const int32_t start = model.generation_config().decoder_start_token_id.value_or(0);
  r.features.assign(windows.begin(), windows.end());
  r.decoder_ids.assign(windows.size(), {start});
  r.logits_at.assign(windows.size(), {0});
  r.options.max_new_tokens = 1;
  r.options.return_timestamps = false;
  r.exact_decoder_ids = r.deterministic = true;
  return r;
}

Result<int32_t> likeliest_language(const SpeechSettings& settings, std::span<const float> logits) {
  const auto& languages = settings.languages;
  for (const auto& [token, id] : languages)
    if (static_cast<size_t>(id) >= logits.size())
      return fail(ErrorCode::invalid_data, "lang_to_id: %s has the id %d, the model %u words", token, id,
                  logits.size());
  const auto best = std::max_element(languages.begin(), languages.end(), [&](const auto& a, const auto& b) {
    return logits[static_cast<size_t>(a.second)] < logits[static_cast<size_t>(b.second)];
  });
  return best->second;
}

}  // namespace lapilli::speech
