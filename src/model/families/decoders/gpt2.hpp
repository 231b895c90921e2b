// The decoder of GPT-2, alone or in a pair with an encoder of pictures.
#pragma once

#include <string>

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

// Reads the decoder's side, the vocabulary and the tokenizer. Linear weights are stored transposed and side by side.
Status read_gpt2_decoder(const JsonView& view, Config& config);
// "h.{}.attn.c_attn" and so on behind `base`; `cross`: with attention to an encoder.
void name_gpt2_decoder(const std::string& base, bool cross, Names& names);

}  // namespace lapilli::model
