// The parts that the readers of fairseq's translation and language models share.
#pragma once

#include <string>

#include "formats/doors/trained/trained_mapper.hpp"
#include "formats/doors/trained/trained_texts.hpp"
#include "formats/doors/trained/training_file.hpp"

namespace lapilli::doors::trained::fairseq {

// An architecture: what the settings that a checkpoint lacks are. Sizes come from the tensors.
struct Arch {
  const char* name;
  uint32_t heads = 8;
  bool pre_norm = false;
  bool bart = false;   // learned positions, gelu, a norm of the embeddings, which are not scaled
  bool alone = false;  // a decoder alone: a language model
  const char* activation = "relu";
};

struct Settings {
  PickledFields model, task;
  Arch arch;
};

// A stack's attention, norms and feed-forward layers, under BART's names.
void map_layer(TrainedMapper& m, const std::string& from, const std::string& to, bool cross);
uint64_t heads_of(const Settings& s, const std::string& side);
// Refuses settings of networks that no family has.
void refuse_settings(TrainedMapper& m, const Settings& s, const std::string& embedding);

// A language model becomes OPT.
void map_language_model(TrainedMapper& m, const Settings& s);

}  // namespace lapilli::doors::trained::fairseq
