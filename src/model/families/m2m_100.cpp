// M2M100 and NLLB: Fan et al. 2020, NLLB team 2022. Pre-norm with a final norm, fairseq's sinusoids counted over ids
// that are not padding, no bias on the logits.
#include <algorithm>

#include "model/families/bart_group.hpp"

namespace lapilli::model {

extern const Family family_m2m_100;

namespace {

constexpr uint32_t kPositions = 1024;

Result<Config> read_m2m_100(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, bart_config(v, {"m2m_100", "relu", true}));
  LAPILLI_CHECK(check_norm_flags(v, {.before = true, .embedding = false, .final = true}));
  set_pre_norm(c);
  // The reference extends its computed tables on demand; max_position_embeddings is no limit.
  for (StackConfig* s : {&c.encoder, &c.decoder}) s->max_positions = std::max(s->max_positions, kPositions);
  LAPILLI_CHECK(set_fairseq_positions(v, c));
  c.logits_bias = false;
  return c;
}

Names m2m_100_names(const Config& c) {
  Names n = bart_names(c);
  // Older files have the computed tables, which are not read.
  n.encoder.positions = n.decoder.positions = {};
  return n;
}

}  // namespace

const Family family_m2m_100 = {"m2m_100", "M2M100 and NLLB", read_m2m_100, m2m_100_names,
                               "for multilingual translation"};

}  // namespace lapilli::model
