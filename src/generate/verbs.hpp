// The program's commands that a model serves.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/config.hpp"

namespace lapilli {

// "lapilli classify", or several: "lapilli caption or lapilli read".
std::string verbs_for(const model::Config& config);
// "classify" and so on, of an encoder of texts; empty: none.
std::vector<std::string> verbs_of_text_encoder(const model::Config& config);
// True for an encoder of texts, alone or behind a decoder that reads the same text: it makes vectors or scores.
bool encodes_texts(const model::Config& config);
// The head that scores whole texts; null: there is none.
const model::HeadConfig* scores_of_texts(const model::Config& config);
// Fails if the model reads no text, or writes none; the error names the commands that serve it.
Status check_reads_text(const model::Config& config);
Status check_writes_text(const model::Config& config);
// Fails if it takes no sound, or does not transcribe.
Status check_reads_sound(const model::Config& config);
// Fails if it reads no pictures.
Status check_reads_pictures(const model::Config& config);

}  // namespace lapilli
