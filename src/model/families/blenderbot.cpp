// Blenderbot: Roller et al. 2020. Pre-norm with a final norm, learned positions from the first row on.
#include "model/families/bart_group.hpp"

namespace lapilli::model {

extern const Family family_blenderbot;

namespace {

Result<Config> read_blenderbot(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, bart_config(v, {"blenderbot"}));
  LAPILLI_CHECK(check_norm_flags(v, {.before = true, .embedding = false, .final = true}));
  set_pre_norm(c);
  set_positions(c, Positions::learned);
  return c;
}

}  // namespace

const Family family_blenderbot = {"blenderbot", "Blenderbot", read_blenderbot, bart_names, "for dialogue"};

}  // namespace lapilli::model
