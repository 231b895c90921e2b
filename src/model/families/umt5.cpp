// UMT5: as mT5, but every layer has its own relative positions, and the decoder's output is scaled.
#include <cmath>

#include "model/families/t5_group.hpp"

namespace lapilli::model {

extern const Family family_umt5;

namespace {

Result<Config> read_umt5(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, t5_config(v, "umt5", "gated-gelu"));
  c.encoder.relative_per_layer = c.decoder.relative_per_layer = true;
  // As the reference since version 5, which takes the embeddings for tied whatever the file says.
  c.tied_output = true;
  c.output_scale = 1 / std::sqrt(static_cast<float>(c.decoder.d_model));
  return c;
}

}  // namespace

const Family family_umt5 = {"umt5", "UMT5", read_umt5, t5_names};

}  // namespace lapilli::model
