// ELECTRA (Clark et al. 2020) as an encoder alone, with one of its heads: BERT whose embeddings may be narrower,
// without a pooler. A discriminator counts as a bare model.
#include <nlohmann/json.hpp>

#include "model/families/bert_group.hpp"
#include "model/families/text_heads.hpp"

namespace lapilli::model {

extern const Family family_electra;

namespace {

constexpr TextHeads kElectraHeads = {"Electra", "", "classifier.dense", "classifier.out_proj", Activation::gelu_erf,
                                     false};

Result<Config> read_electra(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_CHECK(check_encoder_alone(v));
  Config c;
  c.family = c.tokenizer = c.encoder.type = "electra";
  StackConfig& s = c.encoder;
  LAPILLI_CHECK(read_bert_stack(v, "encoder", {256, 12, 4, 1024}, s));
  LAPILLI_CHECK(read_row_types(v, s));
  LAPILLI_CHECK(read_embedding_width(v, s));
  if (s.embedding_width == s.d_model) s.embedding_width = 0;
  LAPILLI_CHECK(read_source_vocabulary(v, 30522, c));
  LAPILLI_CHECK(read_text_head(v, kElectraHeads, c));
  c.output_activation = Activation::gelu_erf;
  return c;
}

Names electra_names(const Config& c) {
  Names n;
  n.base_prefix = "electra.";
  n.encoder = bert_side_names(n.base_prefix, false);
  n.encoder.embedding_projection = n.base_prefix + "embeddings_project";
  n.output = {"generator_lm_head.weight"};
  n.logits_bias = {"generator_lm_head.bias"};
  n.output_transform = "generator_predictions.dense";
  n.output_norm = "generator_predictions.LayerNorm";
  if (c.tied_output) tie_encoder_output(n);
  n.heads = {text_head_names(c, kElectraHeads)};
  return n;
}

}  // namespace

const Family family_electra = {"electra", "ELECTRA, an encoder of text", read_electra, electra_names};

}  // namespace lapilli::model
