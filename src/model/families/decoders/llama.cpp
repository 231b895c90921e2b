// Llama (Touvron et al. 2023) and Mistral (Jiang et al. 2023), whose positions see a window of others.
#include <nlohmann/json.hpp>

#include "model/families/decoders/llama_group.hpp"

namespace lapilli::model {

extern const Family family_llama, family_mistral;

namespace {

constexpr LlamaClass kLlama{.family = "llama", .tokenizer = "llama"};
constexpr LlamaClass kMistral{.family = "mistral",
                              .tokenizer = "llama",
                              .ffn = 14336,
                              .cache_heads = 8,
                              .positions = 131072,
                              .chooses_bias = false,
                              .local = LocalLayers::all};

Result<Config> read_llama(const nlohmann::json& json, const std::string& where) {
  return llama_config({json, where}, kLlama);
}
Result<Config> read_mistral(const nlohmann::json& json, const std::string& where) {
  return llama_config({json, where}, kMistral);
}

}  // namespace

const Family family_llama = {"llama", "Llama and its relatives (TinyLlama, SmolLM2)", read_llama, llama_names};
const Family family_mistral = {"mistral", "Mistral", read_mistral, llama_names};

}  // namespace lapilli::model
