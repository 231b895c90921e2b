// Hunyuan (Tencent 2025), the dense models: Llama whose heads of queries and keys are normalized behind the rotation.
#include <nlohmann/json.hpp>

#include "model/families/decoders/llama_group.hpp"

namespace lapilli::model {

extern const Family family_hunyuan_v1_dense;

namespace {

// Its mlp_bias is read by nobody.
constexpr LlamaClass kHunyuan{
    .family = "hunyuan_v1_dense", .vocabulary = 290943, .norm_epsilon = 1e-5f, .mlp_bias = false, .alpha_rotary = true};

Result<Config> read_hunyuan(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_CHECK(check_flag(v, "use_cla", false));
  LAPILLI_CHECK(check_flag(v, "use_qk_norm", true));
  LAPILLI_TRY(Config c, llama_config(v, kHunyuan));
  c.decoder.head_norm_last = true;
  LAPILLI_CHECK(check_head_norms(v, c.decoder));
  return c;
}

Names hunyuan_names(const Config& c) {
  Names n = llama_names(c);
  const std::string self = n.base_prefix + "layers.{}.self_attn.";
  n.decoder.layer.self.q_norm = self + "query_layernorm";
  n.decoder.layer.self.k_norm = self + "key_layernorm";
  return n;
}

}  // namespace

const Family family_hunyuan_v1_dense = {"hunyuan_v1_dense", "Hunyuan, the dense models (Hunyuan-MT, HY-MT)",
                                        read_hunyuan, hunyuan_names};

}  // namespace lapilli::model
