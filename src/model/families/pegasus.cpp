// Pegasus: Zhang et al. 2019. Pre-norm with a final norm, Marian's sinusoids (stored in published files).
#include "model/families/bart_group.hpp"

namespace lapilli::model {

extern const Family family_pegasus;

namespace {

Result<Config> read_pegasus(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, bart_config(v, {"pegasus"}));
  LAPILLI_CHECK(check_norm_flags(v, {.before = true, .embedding = false, .final = true}));
  set_pre_norm(c);
  set_positions(c, Positions::sinusoid_split);
  return c;
}

}  // namespace

const Family family_pegasus = {"pegasus", "Pegasus", read_pegasus, bart_names, "for summarization"};

}  // namespace lapilli::model
