// A decoder alone as an encoder of texts: the same layers, for heads that make vectors or scores of a whole text.
#pragma once

#include "model/config.hpp"

namespace lapilli::model {

// Moves the decoder of a family to the encoder's side, where texts share a pass; the scores of tokens go, since such a
// model writes nothing.
void make_causal_encoder(Config& config, Names& names);

}  // namespace lapilli::model
