// Qwen 2 (Yang et al. 2024): Llama with biases of queries, keys and values. Qwen 3 (Yang et al. 2025): instead of
// these, heads of queries and keys are normalized before the rotation.
#include <nlohmann/json.hpp>

#include "model/families/decoders/llama_group.hpp"

namespace lapilli::model {

extern const Family family_qwen2, family_qwen3;

namespace {

constexpr LlamaClass kQwen2{.family = "qwen2",
                            .ffn = 22016,
                            .cache_heads = 32,
                            .vocabulary = 151936,
                            .positions = 32768,
                            .chooses_bias = false,
                            .qkv_bias = true,
                            .local = LocalLayers::later};
constexpr LlamaClass kQwen3{.family = "qwen3",
                            .ffn = 22016,
                            .cache_heads = 32,
                            .head_dim = 128,
                            .vocabulary = 151936,
                            .positions = 32768,
                            .local = LocalLayers::later};

Result<Config> read_qwen2(const nlohmann::json& json, const std::string& where) {
  return llama_config({json, where}, kQwen2);
}

Result<Config> read_qwen3(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, llama_config(v, kQwen3));
  LAPILLI_CHECK(check_head_norms(v, c.decoder));
  return c;
}

}  // namespace

const Family family_qwen2 = {"qwen2", "Qwen 2 and 2.5", read_qwen2, llama_names};
const Family family_qwen3 = {"qwen3", "Qwen 3", read_qwen3, llama_names};

}  // namespace lapilli::model
