// Granite (IBM 2024): Llama with factors of the embeddings, the scores, the sublayers and the logits.
#include <nlohmann/json.hpp>

#include "model/families/decoders/llama_group.hpp"

namespace lapilli::model {

extern const Family family_granite;

namespace {

constexpr LlamaClass kGranite{.family = "granite"};

Result<float> get_factor(const JsonView& v, const char* key) {
  LAPILLI_TRY(const float factor, get_float(v, key, 1.0f));
  if (factor > 1e-6f && factor < 1e6f) return factor;
  return fail(ErrorCode::invalid_data, "%s: %s %g is no factor between 1e-6 and 1e6", v.where, key, factor);
}

// States divided by the sublayers' factor need none: each sublayer reads them through a norm, whose epsilon is divided
// by its square.
void scale_states(StackConfig& s, float embeddings, float sublayers) {
  s.state_scale = sublayers;
  s.embedding_scale = embeddings / sublayers;
  s.norm_epsilon /= sublayers * sublayers;
}

Result<Config> read_granite(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, llama_config(v, kGranite));
  LAPILLI_TRY(const float embeddings, get_factor(v, "embedding_multiplier"));
  LAPILLI_TRY(const float sublayers, get_factor(v, "residual_multiplier"));
  LAPILLI_TRY(const float logits, get_factor(v, "logits_scaling"));
  LAPILLI_TRY(c.decoder.score_scale, get_factor(v, "attention_multiplier"));
  c.output_scale = 1 / logits;
  scale_states(c.decoder, embeddings, sublayers);
  return c;
}

}  // namespace

const Family family_granite = {"granite", "Granite 3, the dense models", read_granite, llama_names};

}  // namespace lapilli::model
