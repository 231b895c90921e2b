// UMT5: like mT5, but each layer has its own relative positions, and the decoder's output is scaled if the embeddings
// are tied.
#include <cmath>

#include "model/families/t5_group.hpp"

namespace lapilli::model {

extern const Family family_umt5;

namespace {

Result<Config> read_umt5(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, t5_config(v, "umt5", "gated-gelu"));
  c.encoder.relative_per_layer = c.decoder.relative_per_layer = true;
  // Files of transformers 5 have the key; older ones imply it by tied embeddings.
  LAPILLI_TRY(const bool scaled, get_bool(v, "scale_decoder_outputs", c.tied_output));
  if (scaled) c.output_scale = 1 / std::sqrt(static_cast<float>(c.encoder.d_model));
  return c;
}

}  // namespace

const Family family_umt5 = {"umt5", "UMT5", read_umt5, t5_names};

}  // namespace lapilli::model
