// RoBERTa (Liu et al. 2019), XLM-R (Conneau et al. 2020) and CamemBERT (Martin et al. 2020) as encoders alone, with a
// pooler or one of their heads: one network under three names.
#include <nlohmann/json.hpp>

#include "model/families/bert_group.hpp"
#include "model/families/text_heads.hpp"

namespace lapilli::model {

extern const Family family_roberta, family_xlm_roberta, family_camembert;

namespace {

constexpr TextHeads kRobertaHeads = {"Roberta XLMRoberta Camembert", "roberta.pooler.dense", "classifier.dense",
                                     "classifier.out_proj"};

Result<Config> read_roberta(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, read_bert_encoder(v));
  LAPILLI_CHECK(read_text_head(v, kRobertaHeads, c));
  c.output_activation = Activation::gelu_erf;
  return c;
}

Names roberta_names(const Config& c) {
  Names n = bert_encoder_names(c);
  n.heads = {text_head_names(c, kRobertaHeads)};
  return n;
}

}  // namespace

const Family family_roberta = {"roberta", "RoBERTa, an encoder of text", read_roberta, roberta_names};
const Family family_xlm_roberta = {"xlm-roberta", "XLM-R, an encoder of text", read_roberta, roberta_names};
const Family family_camembert = {"camembert", "CamemBERT, an encoder of text", read_roberta, roberta_names};

}  // namespace lapilli::model
