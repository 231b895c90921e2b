// Common parts of pairs with a side of BERT (Devlin et al. 2019) or RoBERTa (Liu et al. 2019), which differ in
// positions and names. Post-norm, learned positions, token types, normalized embeddings.
#pragma once

#include <string>

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

// A model type that a side may have.
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

// A stack's names after `prefix`.
StackNames bert_side_names(const std::string& prefix, bool cross);
// Names decoder, head and projection of a pair, as if the output were not tied.
void name_bert_decoder(const Config& config, Names& names);

}  // namespace lapilli::model
