// Marian (opus-mt): Junczys-Dowmunt et al. 2018, as published by Helsinki-NLP. Post-norm, sinusoidal positions with
// sines in the first half, embeddings scaled by sqrt(d_model), a bias on the logits, embeddings shared or one per side.
#include "model/families/bart_group.hpp"

namespace lapilli::model {

extern const Family family_marian;

namespace {

Result<Config> read_marian(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, bart_config(v, {"marian"}));
  LAPILLI_TRY(c.shared_embeddings, get_bool(v, "share_encoder_decoder_embeddings", true));
  if (!c.shared_embeddings) {
    LAPILLI_TRY(c.target_vocabulary, get_size(v, "decoder_vocab_size", kMaxVocabulary, c.source_vocabulary));
  }
  LAPILLI_CHECK(check_norm_flags(v, {.before = false, .embedding = false, .final = false}));
  set_positions(c, Positions::sinusoid_split);
  return c;
}

}  // namespace

const Family family_marian = {"marian", "Marian", read_marian, bart_names, "translation models (opus-mt)"};

}  // namespace lapilli::model
