// GPT-Neo (Black et al. 2021): GPT-2 with layers that see a window of positions, and scores that are not divided.
#include <nlohmann/json.hpp>

#include "formats/quote.hpp"
#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

extern const Family family_gpt_neo;

namespace {

constexpr const char* kNeoTypes = "attention_types";

Failure no_layer_types(const JsonView& v) {
  return fail(ErrorCode::invalid_data, "%s: %s is no list of kinds of layers and how often they repeat", v.where,
              kNeoTypes);
}

// Adds the kinds of an entry, [["global", "local"], 12], as often as it says; true: a layer sees a window.
Status add_layer_types(const JsonView& v, const nlohmann::json& entry, uint32_t layers, std::vector<bool>& local) {
  if (!entry.is_array() || entry.size() != 2 || !entry[0].is_array() || !entry[1].is_number_unsigned())
    return no_layer_types(v);
  const auto times = entry[1].get<uint64_t>();
  if (times * entry[0].size() > layers) return no_layer_types(v);
  for (uint64_t i = 0; i < times; ++i)
    for (const auto& kind : entry[0]) {
      const std::string name = kind.is_string() ? kind.get<std::string>() : kind.dump();
      if (name != "global" && name != "local")
        return fail(ErrorCode::unsupported, "%s: %s has %s; global and local are known", v.where, kNeoTypes,
                    quote_name(name, 40));
      local.push_back(name == "local");
    }
  return {};
}

Result<std::vector<bool>> local_neo_layers(const JsonView& v, uint32_t layers) {
  static const auto& missing = *new nlohmann::json(nlohmann::json::parse(R"([[["global", "local"], 12]])"));
  const auto& types = has(v, kNeoTypes) ? v.json.at(kNeoTypes) : missing;
  if (!types.is_array()) return no_layer_types(v);
  std::vector<bool> local;
  for (const auto& entry : types) LAPILLI_CHECK(add_layer_types(v, entry, layers, local));
  if (local.size() == layers) return local;
  return fail(ErrorCode::invalid_data, "%s: %s describes %u layers, num_layers is %u", v.where, kNeoTypes, local.size(),
              layers);
}

// A layer with a window sees the position itself and the rest of the window before it.
Status read_neo_windows(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(const auto local, local_neo_layers(v, s.layers));
  LAPILLI_TRY(const uint32_t size, get_size(v, "window_size", 1u << 30, 256));
  if (size >= s.max_positions) return {};
  for (const bool near : local) s.windows.push_back(near ? size - 1 : kNoWindow);
  return {};
}

Status read_neo_sizes(const JsonView& v, Config& c) {
  StackConfig& s = c.decoder;
  LAPILLI_TRY(s.d_model, get_size(v, "hidden_size", kMaxModelWidth, 2048));
  LAPILLI_TRY(s.layers, get_size(v, "num_layers", kMaxModelLayers, 24));
  LAPILLI_TRY(s.heads, get_size(v, "num_heads", kMaxModelWidth, 16));
  LAPILLI_TRY(s.ffn, get_u32(v, "intermediate_size", 4 * s.d_model));
  LAPILLI_CHECK(read_activation(v, "activation_function", "gelu_new", s));
  LAPILLI_TRY(c.target_vocabulary, get_size(v, "vocab_size", kMaxVocabulary, 50257));
  LAPILLI_TRY(s.norm_epsilon, get_epsilon(v, "layer_norm_epsilon", 1e-5f));
  LAPILLI_TRY(s.max_positions, get_size(v, "max_position_embeddings", kMaxPositionRows, 2048));
  return check_stack(v, "decoder", s);
}

Result<Config> read_gpt_neo(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  Config c;
  c.family = "gpt_neo";
  c.tokenizer = "gpt2";
  LAPILLI_CHECK(check_writes(v));
  LAPILLI_CHECK(read_neo_sizes(v, c));
  StackConfig& s = c.decoder;
  LAPILLI_CHECK(read_neo_windows(v, s));
  s.positions = Positions::learned;
  s.pre_norm = s.final_norm = true;
  s.scaled_attention = s.qkv_bias = false;
  LAPILLI_TRY(c.tied_output, get_bool(v, "tie_word_embeddings", true));
  return c;
}

Names gpt_neo_names(const Config& c) {
  Names n;
  n.base_prefix = "transformer.";
  const std::string layer = n.base_prefix + "h.{}.", self = layer + "attn.attention.";
  n.decoder.embedding = {n.base_prefix + "wte.weight"};
  n.decoder.positions = {n.base_prefix + "wpe.weight"};
  n.decoder.layer.self = {self + "q_proj", self + "k_proj", self + "v_proj", self + "out_proj", layer + "ln_1", ""};
  n.decoder.layer.fc1 = layer + "mlp.c_fc";
  n.decoder.layer.fc2 = layer + "mlp.c_proj";
  n.decoder.layer.norm = layer + "ln_2";
  n.decoder.final_norm = n.base_prefix + "ln_f";
  name_output("lm_head.weight", c, n);
  return n;
}

}  // namespace

const Family family_gpt_neo = {"gpt_neo", "GPT-Neo", read_gpt_neo, gpt_neo_names};

}  // namespace lapilli::model
