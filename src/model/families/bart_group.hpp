// Common parts of Marian, BART, mBART, Pegasus, Blenderbot, M2M100 and FSMT: fairseq's fields of config.json and names
// of tensors. Each family adds its differences.
#pragma once

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

// Defaults of the reference for missing fields of config.json, and its key for the source vocabulary.
struct BartDefaults {
  const char* family;  // model_type and kind of tokenizer
  const char* activation = "gelu";
  bool scale_embedding = false;
  const char* vocabulary = "vocab_size";
};
// Reads d_model, both stacks' sizes, vocab_size (one for both sides), activation_function, scale_embedding,
// tie_word_embeddings and max_position_embeddings; sets layer norms after each sublayer and a bias on the logits.
Result<Config> bart_config(const JsonView& view, const BartDefaults& defaults);
// Sets norms before each sublayer and at the end of both stacks.
void set_pre_norm(Config& config);
// Sets norms of the embeddings with their positions, on both sides.
void set_embedding_norm(Config& config);
// Sets both stacks' kind of positions; `offset` rows of the tables precede the first position.
void set_positions(Config& config, Positions kind, uint32_t offset = 0);

// Sets fairseq's sinusoids on both sides: padding (pad_token_id) has a row of zeros and is not counted; the first
// position is the row after it.
Status set_fairseq_positions(const JsonView& view, Config& config);
// Refuses normalize_before, normalize_embedding and add_final_layer_norm (in files of 2020) if they contradict the
// family: the current reference ignores them, and the text would be nonsense.
struct NormFlags {
  bool before, embedding, final;
};
Status check_norm_flags(const JsonView& view, const NormFlags& family);

// "model.encoder.layers.{}.self_attn.q_proj" and so on; embeddings and output tied as in `shared_embeddings` and
// `tied_output`.
Names bart_names(const Config& config);
// The same names with another prefix than "model.".
Names bart_names_under(const Config& config, const std::string& base);

}  // namespace lapilli::model
