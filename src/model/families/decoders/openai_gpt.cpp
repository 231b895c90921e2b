// OpenAI GPT: Radford et al. 2018. GPT-2's layers with norms behind the sublayers, and none at the end.
#include <nlohmann/json.hpp>

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

extern const Family family_openai_gpt;

namespace {

// "gelu" means its tanh form here.
Status read_gpt_activation(const JsonView& v, StackConfig& s) {
  LAPILLI_CHECK(read_activation(v, "afn", "gelu", s));
  if (s.activation_name != "gelu") return {};
  s.activation_name = "gelu_new";
  s.activation = Activation::gelu_tanh;
  return {};
}

Result<Config> read_openai_gpt(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  Config c;
  c.family = c.tokenizer = "openai-gpt";
  LAPILLI_CHECK(check_writes(v));
  StackConfig& s = c.decoder;
  LAPILLI_TRY(s.d_model, get_size(v, "n_embd", kMaxModelWidth, 768));
  LAPILLI_TRY(s.layers, get_u32(v, "n_layer", 12));
  LAPILLI_TRY(s.heads, get_u32(v, "n_head", 12));
  s.ffn = 4 * s.d_model;
  LAPILLI_CHECK(read_gpt_activation(v, s));
  LAPILLI_TRY(c.target_vocabulary, get_size(v, "vocab_size", kMaxVocabulary, 40478));
  LAPILLI_TRY(s.norm_epsilon, get_epsilon(v, "layer_norm_epsilon", 1e-5f));
  LAPILLI_TRY(s.max_positions, get_size(v, "n_positions", kMaxPositionRows, 512));
  LAPILLI_TRY(c.tied_output, get_bool(v, "tie_word_embeddings", true));
  s.positions = Positions::learned;
  s.transposed_linear = true;
  LAPILLI_CHECK(check_stack(v, "decoder", s));
  return c;
}

Names openai_gpt_names(const Config& c) {
  Names n;
  n.base_prefix = "transformer.";
  const std::string layer = n.base_prefix + "h.{}.", self = layer + "attn.";
  n.decoder.embedding = {n.base_prefix + "tokens_embed.weight"};
  n.decoder.positions = {n.base_prefix + "positions_embed.weight"};
  n.decoder.layer.self = {self + "c_attn", self + "c_attn", self + "c_attn", self + "c_proj", layer + "ln_1", ""};
  n.decoder.layer.fc1 = layer + "mlp.c_fc";
  n.decoder.layer.fc2 = layer + "mlp.c_proj";
  n.decoder.layer.norm = layer + "ln_2";
  name_output("lm_head.weight", c, n);
  return n;
}

}  // namespace

const Family family_openai_gpt = {"openai-gpt", "the first GPT", read_openai_gpt, openai_gpt_names};

}  // namespace lapilli::model
