// mT5: T5 v1.1 for 101 languages; the decoder's output is never scaled.
#include "model/families/t5_group.hpp"

namespace lapilli::model {

extern const Family family_mt5;

namespace {

Result<Config> read_mt5(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, t5_config(v, "mt5", "gated-gelu"));
  // Files have the same tensors whether they say tied or not.
  c.tied_output = true;
  return c;
}

}  // namespace

const Family family_mt5 = {"mt5", "mT5", read_mt5, t5_names};

}  // namespace lapilli::model
