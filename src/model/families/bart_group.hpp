// What Marian, BART, mBART, Pegasus, Blenderbot, M2M100 and FSMT have in common: fairseq's fields of config.json and
// names of tensors. A family says where it differs.
#pragma once

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

// d_model, both stacks' sizes, vocab_size (one for both sides), activation_function, scale_embedding,
// tie_word_embeddings and max_position_embeddings; layer norms after each sublayer, a bias on the logits.
Result<Config> bart_config(const JsonView& view, const char* family);
// Norms before each sublayer and at the end of both stacks.
void make_pre_norm(Config& config);
// Both stacks' kind of positions; `offset` rows of the tables come before the first position.
void set_positions(Config& config, Positions kind, uint32_t offset = 0);

// "model.encoder.layers.{}.self_attn.q_proj" and so on; embeddings and output as `shared_embeddings` and `tied_output`
// tie them.
Names bart_names(const Config& config);

}  // namespace lapilli::model
