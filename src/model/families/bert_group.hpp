// Common parts of BERT (Devlin et al. 2019) and RoBERTa (Liu et al. 2019), which differ in positions and names, as
// encoders alone and as sides of pairs. Post-norm, learned positions, token types, normalized embeddings.
#pragma once

#include <string>

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

// A model type that a side or an encoder alone may have.
struct BertSide {
  const char* model_type;
  const char* base;  // prefix of a model with a head; kind of the tokenizer
  bool bert;         // BERT's positions and head; otherwise RoBERTa's
};
// Null if the type is unknown.
const BertSide* find_bert_side(const std::string& model_type);

// Reads a whole stack from its own object; `side` ("decoder") is for messages. Errors name file and key.
Status read_bert_side(const JsonView& view, const char* side, StackConfig& stack, uint32_t& vocabulary);
// Reads a decoder's head, and whether the encoder's rows go through a linear layer first.
Status read_bert_head(const JsonView& decoder, Config& config);

// Reads the number of token types of an encoder alone: sources tell those of their rows if there are several.
Status read_row_types(const JsonView& view, StackConfig& stack);
// Reads an encoder alone from the whole file, without its head.
Result<Config> read_bert_encoder(const JsonView& view);
// Names such an encoder, and the head that scores ids.
Names bert_encoder_names(const Config& config);

// A stack's names after `prefix`.
StackNames bert_side_names(const std::string& prefix, bool cross);
// Names decoder, head and projection of a pair, as if the output were not tied.
void name_bert_decoder(const Config& config, Names& names);

}  // namespace lapilli::model
