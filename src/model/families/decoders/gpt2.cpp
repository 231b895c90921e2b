// GPT-2: Radford et al. 2019. Pre-norm, learned positions, a norm at the end. Buffers of older files ("attn.bias",
// "attn.masked_bias") hold no weights, and no name asks for them.
#include "model/families/decoders/gpt2.hpp"

#include <nlohmann/json.hpp>

namespace lapilli::model {

extern const Family family_gpt2;

Status read_gpt2_decoder(const JsonView& v, Config& c) {
  StackConfig& s = c.decoder;
  LAPILLI_TRY(s.d_model, get_size(v, "n_embd", kMaxModelWidth, 768));
  LAPILLI_TRY(s.layers, get_u32(v, "n_layer", 12));
  LAPILLI_TRY(s.heads, get_u32(v, "n_head", 12));
  LAPILLI_TRY(s.ffn, get_u32(v, "n_inner", 4 * s.d_model));
  LAPILLI_CHECK(read_activation(v, "activation_function", "gelu_new", s));
  LAPILLI_TRY(c.target_vocabulary, get_size(v, "vocab_size", kMaxVocabulary, 50257));
  LAPILLI_TRY(s.norm_epsilon, get_epsilon(v, "layer_norm_epsilon", 1e-5f));
  LAPILLI_TRY(s.max_positions, get_size(v, "n_positions", kMaxPositionRows, 1024));
  LAPILLI_TRY(s.scaled_attention, get_bool(v, "scale_attn_weights", true));
  LAPILLI_CHECK(check_flag(v, "scale_attn_by_inverse_layer_idx", false));
  s.positions = Positions::learned;
  s.pre_norm = s.final_norm = s.transposed_linear = true;
  c.tokenizer = "gpt2";
  return check_stack(v, "decoder", s);
}

void name_gpt2_decoder(const std::string& base, bool cross, Names& n) {
  const std::string layer = base + "h.{}.", self = layer + "attn.", other = layer + "crossattention.";
  n.decoder.embedding = {base + "wte.weight"};
  n.decoder.positions = {base + "wpe.weight"};
  n.decoder.layer.self = {self + "c_attn", self + "c_attn", self + "c_attn", self + "c_proj", layer + "ln_1", ""};
  if (cross)
    n.decoder.layer.cross = {other + "q_attn", other + "c_attn",        other + "c_attn",
                             other + "c_proj", layer + "ln_cross_attn", ""};
  n.decoder.layer.fc1 = layer + "mlp.c_fc";
  n.decoder.layer.fc2 = layer + "mlp.c_proj";
  n.decoder.layer.norm = layer + "ln_2";
  n.decoder.final_norm = base + "ln_f";
}

namespace {

Result<Config> read_gpt2(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  Config c;
  c.family = "gpt2";
  LAPILLI_CHECK(check_writes(v));
  LAPILLI_CHECK(check_flag(v, "add_cross_attention", false));
  LAPILLI_CHECK(read_gpt2_decoder(v, c));
  LAPILLI_TRY(c.tied_output, get_bool(v, "tie_word_embeddings", true));
  return c;
}

Names gpt2_names(const Config& c) {
  Names n;
  n.base_prefix = "transformer.";
  name_gpt2_decoder(n.base_prefix, false, n);
  name_output("lm_head.weight", c, n);
  return n;
}

}  // namespace

const Family family_gpt2 = {"gpt2", "GPT-2 and its relatives (DistilGPT2, DialoGPT)", read_gpt2, gpt2_names};

}  // namespace lapilli::model
