// T5 (v1.0, v1.1, FLAN, ByT5): in v1.0 the head is tied and its input scaled, later neither.
#include <cmath>

#include "model/families/t5_group.hpp"

namespace lapilli::model {

extern const Family family_t5;

namespace {

Result<Config> read_t5(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, t5_config(v, "t5", "relu"));
  LAPILLI_TRY(const bool scaled, get_bool(v, "scale_decoder_outputs", c.tied_output));
  if (scaled) c.output_scale = 1 / std::sqrt(static_cast<float>(c.encoder.d_model));
  return c;
}

}  // namespace

const Family family_t5 = {"t5", "T5 (v1.0, v1.1, FLAN, ByT5)", read_t5, t5_names};

}  // namespace lapilli::model
