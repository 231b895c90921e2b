// The head of a text encoder that makes one vector of a text: as modules.json says, or else the mean of its rows.
#pragma once

#include <optional>

#include "formats/checkpoint.hpp"
#include "formats/sentence_modules.hpp"
#include "model/config.hpp"

namespace lapilli {

// Gives an encoder of texts such a head. With modules it is the only one, and a decoder becomes an encoder; without, it
// stands beside heads that are no classifiers, and a classifier gets none. Errors name the step that does not fit.
Status add_sentence_head(const std::optional<SentenceModules>& modules, model::Config& config, model::Names& names);

// Makes the weights of the linear layers a part of the checkpoint, as the names say.
Status join_sentence_weights(const Files& files, const SentenceModules& modules, Checkpoint& checkpoint);

}  // namespace lapilli
