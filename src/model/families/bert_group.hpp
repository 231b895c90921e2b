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

// The reference's values for missing keys.
struct BertDefaults {
  uint32_t d_model = 768, layers = 12, heads = 12, ffn = 3072;
  const char* activation = "gelu";
};
// Reads the sizes, activation and norms of a stack of the kin from its own object, with learned positions and
// normalized embeddings; `side` ("decoder") is for messages.
Status read_bert_stack(const JsonView& view, const char* side, const BertDefaults& defaults, StackConfig& stack);
// Positions start at the row after that of the padding id `pad`, and count only ids that are not padding.
Status count_positions(const JsonView& view, const char* side, uint32_t pad, StackConfig& stack);
// Reads the width of embeddings, where it may differ from the network's.
Status read_embedding_width(const JsonView& view, StackConfig& stack);
// Reads the vocabulary of an encoder alone.
Status read_source_vocabulary(const JsonView& view, uint32_t missing, Config& config);
// Refuses code of the publisher's own and decoders.
Status check_encoder_alone(const JsonView& view);

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
// Names the head that scores ids after `prefix`, as if it were not tied: BERT's, or RoBERTa's.
void name_id_scores(const std::string& prefix, bool bert, Names& names);
// Names decoder, head and projection of a pair, as if the output were not tied.
void name_bert_decoder(const Config& config, Names& names);

}  // namespace lapilli::model
