// The specifications of CTranslate2 as families of Transformers: one mapping for each.
#pragma once

#include <nlohmann/json.hpp>

#include "formats/doors/ctranslate2/mapper.hpp"
#include "formats/doors/ctranslate2/vocabularies.hpp"

namespace lapilli::doors::ct2 {

// The files of a directory beside its weights.
struct Beside {
  nlohmann::json settings;  // its config.json; an empty object where there is none
  Vocabularies vocabularies;

  // A setting that is text.
  [[nodiscard]] std::string text(const char* key, const char* missing) const;
};

// The fields of a directory of Transformers.
struct Fields {
  nlohmann::json config = nlohmann::json::object(), generation = nlohmann::json::object();
  nlohmann::json preprocessor;  // null: a model of texts
};

// Encoder and decoder: T5 by its relative positions; else BART, mBART, Marian, Pegasus or M2M100 by the norms, the
// start of the decoder and the languages among the tokens.
void map_transformer(Mapper& m, const Beside& beside, Fields& fields);
void map_t5(Mapper& m, const Beside& beside, Fields& fields);
void map_whisper(Mapper& m, const Beside& beside, Fields& fields);
// An encoder alone, as BERT.
void map_encoder(Mapper& m, const Beside& beside, Fields& fields);
// A decoder alone, as GPT-2.
void map_decoder(Mapper& m, const Beside& beside, Fields& fields);

// ---- parts that several mappings share

// BART's names of one stack's layers: "SIDE" in CTranslate2's file becomes "PREFIX". Whisper has keys without bias.
void map_bart_stack(Mapper& m, const std::string& side, const std::string& prefix, bool key_bias = true);
// Sizes of both stacks under BART's keys, from their weights.
void add_bart_sizes(Mapper& m, nlohmann::json& config);
// Ids of the end, the padding and the decoder's start, by the tokens that the settings name.
void add_special_ids(const Beside& beside, nlohmann::json& fields);

}  // namespace lapilli::doors::ct2
