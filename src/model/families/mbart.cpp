// mBART and mBART-50: Liu et al. 2020, Tang et al. 2020. Pre-norm with a final norm, normalized embeddings, learned
// positions after two unused rows.
#include "model/families/bart_group.hpp"

namespace lapilli::model {

extern const Family family_mbart;

namespace {

Result<Config> read_mbart(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, bart_config(v, {"mbart"}));
  LAPILLI_CHECK(check_norm_flags(v, {.before = true, .embedding = true, .final = true}));
  set_pre_norm(c);
  set_embedding_norm(c);
  set_positions(c, Positions::learned, 2);
  return c;
}

}  // namespace

const Family family_mbart = {"mbart", "mBART and mBART-50", read_mbart, bart_names, "for multilingual translation"};

}  // namespace lapilli::model
