// Blenderbot-small (90M): post-norm, normalized embeddings (the decoder's before positions are added), learned
// positions from the first row on.
#include "model/families/bart_group.hpp"

namespace lapilli::model {

extern const Family family_blenderbot_small;

namespace {

Result<Config> read_blenderbot_small(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, bart_config(v, {"blenderbot-small"}));
  LAPILLI_CHECK(check_norm_flags(v, {.before = false, .embedding = true, .final = false}));
  set_embedding_norm(c);
  // The reference scales only the encoder's embeddings.
  c.decoder.embedding_norm_first = true;
  c.decoder.embedding_scale = 1;
  set_positions(c, Positions::learned);
  return c;
}

}  // namespace

const Family family_blenderbot_small = {"blenderbot-small", "Blenderbot-small", read_blenderbot_small, bart_names,
                                        "for dialogue"};

}  // namespace lapilli::model
