// BART: Lewis et al. 2019. Post-norm, normalized embeddings, learned positions after two unused rows.
#include "model/families/bart_group.hpp"

namespace lapilli::model {

extern const Family family_bart;

namespace {

Result<Config> read_bart(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, bart_config(v, {"bart"}));
  LAPILLI_CHECK(check_norm_flags(v, {.before = false, .embedding = true, .final = false}));
  set_embedding_norm(c);
  set_positions(c, Positions::learned, 2);
  return c;
}

}  // namespace

const Family family_bart = {"bart", "BART, for denoising and summarization", read_bart, bart_names};

}  // namespace lapilli::model
