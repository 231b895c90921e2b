// SmolLM3 (2025): Llama, but some layers do not rotate, so that they see no positions.
#include <nlohmann/json.hpp>

#include "model/families/decoders/llama_group.hpp"

namespace lapilli::model {

extern const Family family_smollm3;

namespace {

constexpr LlamaClass kSmolLm3{.family = "smollm3",
                              .d_model = 2048,
                              .layers = 36,
                              .heads = 16,
                              .cache_heads = 4,
                              .vocabulary = 128256,
                              .positions = 32768,
                              .rotary_base = 2e6f,
                              .tied_output = true,
                              .local = LocalLayers::still};

Result<Config> read_smollm3(const nlohmann::json& json, const std::string& where) {
  return llama_config({json, where}, kSmolLm3);
}

}  // namespace

const Family family_smollm3 = {"smollm3", "SmolLM3", read_smollm3, llama_names};

}  // namespace lapilli::model
