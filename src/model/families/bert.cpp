// BERT (Devlin et al. 2019) as an encoder alone, with a pooler or one of its heads.
#include <nlohmann/json.hpp>

#include "model/families/bert_group.hpp"
#include "model/families/text_heads.hpp"

namespace lapilli::model {

extern const Family family_bert;

namespace {

constexpr TextHeads kBertHeads = {"Bert", "bert.pooler.dense", "bert.pooler.dense"};

Result<Config> read_bert(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, read_bert_encoder(v));
  LAPILLI_CHECK(read_text_head(v, kBertHeads, c));
  return c;
}

Names bert_names(const Config& c) {
  Names n = bert_encoder_names(c);
  n.heads = {text_head_names(c, kBertHeads)};
  return n;
}

}  // namespace

const Family family_bert = {"bert", "BERT, an encoder of text", read_bert, bert_names};

}  // namespace lapilli::model
