// Common parts of the Gemma families beside those of Llama: fields of config.json.
#pragma once

#include "model/families/decoders/llama_group.hpp"

namespace lapilli::model {

// Base frequencies of layers with a window and of the others.
Status read_near_rotary(const JsonView& view, StackConfig& stack);
// The scale of scores.
Status read_gemma_scores(const JsonView& view, StackConfig& stack);
// A cap of scores or logits; 0: none, as for null. `missing`: that of files without the key.
Status read_cap(const JsonView& view, const char* key, float missing, float& cap);

}  // namespace lapilli::model
