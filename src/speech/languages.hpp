// Language detection: the likeliest of all language ids right after the decoder's start.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "generate/generate.hpp"

namespace lapilli::speech {

// A search for one id after the start of each window. Refuses models with a single language.
Result<GenerateRequest> language_request(const Model& model,
                                         std::span<const std::shared_ptr<const model::Features>> windows);
// The id of the likeliest language by the logits at the start.
Result<int32_t> likeliest_language(const SpeechSettings& settings, std::span<const float> logits);

}  // namespace lapilli::speech
