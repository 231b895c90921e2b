// FSMT, fairseq's WMT19 models: Ng et al. 2019. Post-norm, fairseq's sinusoids counted over ids that are not padding, a
// vocabulary and an embedding per side, no bias on the logits.
#include "model/families/bart_group.hpp"

namespace lapilli::model {

extern const Family family_fsmt;

namespace {

Result<Config> read_fsmt(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, bart_config(v, {"fsmt", "relu", true, "src_vocab_size"}));
  LAPILLI_TRY(c.target_vocabulary, get_size(v, "tgt_vocab_size", kMaxVocabulary));
  LAPILLI_CHECK(check_norm_flags(v, {.before = false, .embedding = false, .final = false}));
  LAPILLI_CHECK(set_fairseq_positions(v, c));
  c.shared_embeddings = false;
  c.logits_bias = false;
  return c;
}

Names fsmt_names(const Config& c) {
  Names n = bart_names(c);
  const std::string target = "model.decoder.embed_tokens.weight", output = "model.decoder.output_projection.weight";
  // Files of 2020 have only one of the two: the network tied them then, whatever config.json says of word embeddings.
  n.decoder.embedding = {target, output};
  n.output = {output, target};
  return n;
}

}  // namespace

const Family family_fsmt = {"fsmt", "FSMT, fairseq's WMT19 translation models", read_fsmt, fsmt_names};

}  // namespace lapilli::model
