// BART: Lewis et al. 2019. Post-norm, normalized embeddings, learned positions after two unused rows. As a classifier
// its decoder reads the source as well, and the last row is classified.
#include <nlohmann/json.hpp>

#include "model/families/bart_group.hpp"

namespace lapilli::model {

extern const Family family_bart;

namespace {

Status read_classifier(const JsonView& v, Config& c) {
  LAPILLI_TRY(const auto start, get_id(v, "decoder_start_token_id", 2));
  c.shifted_start = static_cast<uint32_t>(start);
  HeadConfig& head = c.heads.front();
  head.kind = HeadKind::classes;
  head.every_row = false;
  head.pooling = Pooling::last;
  head.pooled = c.decoder.d_model;
  LAPILLI_TRY(head.columns, count_labels(v));
  if (c.shifted_start < c.target_vocabulary) return {};
  return fail(ErrorCode::invalid_data, "%s: decoder_start_token_id %d is not in the vocabulary of %u", v.where, start,
              c.target_vocabulary);
}

Result<Config> read_bart(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, bart_config(v, {"bart"}));
  LAPILLI_CHECK(check_norm_flags(v, {.before = false, .embedding = true, .final = false}));
  set_embedding_norm(c);
  set_positions(c, Positions::learned, 2);
  if (architecture(v) == "BartForSequenceClassification") LAPILLI_CHECK(read_classifier(v, c));
  return c;
}

Names all_names(const Config& c) {
  Names n = bart_names(c);
  n.heads = {{"classification_head.dense", "classification_head.out_proj", "", ""}};
  return n;
}

}  // namespace

const Family family_bart = {"bart", "BART", read_bart, all_names, "for denoising and summarization"};

}  // namespace lapilli::model
