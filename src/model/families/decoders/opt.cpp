// OPT: Zhang et al. 2022. Learned positions behind two unused rows; norms before the sublayers and at the end, or
// behind them (350M). There the embeddings are narrower than the network, with a linear layer on either side.
#include <nlohmann/json.hpp>

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

extern const Family family_opt;

namespace {

Status read_opt_sizes(const JsonView& v, Config& c) {
  StackConfig& s = c.decoder;
  LAPILLI_TRY(s.d_model, get_size(v, "hidden_size", kMaxModelWidth, 768));
  LAPILLI_TRY(s.layers, get_u32(v, "num_hidden_layers", 12));
  LAPILLI_TRY(s.heads, get_u32(v, "num_attention_heads", 12));
  LAPILLI_TRY(s.ffn, get_u32(v, "ffn_dim", 3072));
  LAPILLI_CHECK(read_activation(v, "activation_function", "relu", s));
  LAPILLI_TRY(c.target_vocabulary, get_size(v, "vocab_size", kMaxVocabulary, 50272));
  LAPILLI_TRY(s.max_positions, get_size(v, "max_position_embeddings", kMaxPositionRows, 2048));
  s.positions = Positions::learned;
  s.position_offset = 2;
  return check_stack(v, "decoder", s);
}

// Embeddings of another width than the network's.
Status read_opt_projections(const JsonView& v, Config& c) {
  StackConfig& s = c.decoder;
  LAPILLI_TRY(const uint32_t width, get_size(v, "word_embed_proj_dim", kMaxModelWidth, s.d_model));
  if (width == s.d_model) return {};
  s.embedding_width = width;
  s.wide_positions = true;
  s.embedding_projection_bias = false;
  c.output_transform = c.transformed_states = true;
  c.output_transform_bias = c.output_transform_norm = false;
  return {};
}

Result<Config> read_opt(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  Config c;
  c.family = c.tokenizer = "opt";
  LAPILLI_CHECK(check_writes(v));
  LAPILLI_CHECK(read_opt_sizes(v, c));
  LAPILLI_CHECK(read_opt_projections(v, c));
  LAPILLI_CHECK(check_flag(v, "layer_norm_elementwise_affine", true));
  StackConfig& s = c.decoder;
  LAPILLI_TRY(s.linear_bias, get_bool(v, "enable_bias", true));
  LAPILLI_TRY(s.pre_norm, get_bool(v, "do_layer_norm_before", true));
  LAPILLI_TRY(const bool removed, get_bool(v, "_remove_final_layer_norm", false));
  s.final_norm = s.pre_norm && !removed;
  LAPILLI_TRY(c.tied_output, get_bool(v, "tie_word_embeddings", true));
  return c;
}

Names opt_names(const Config& c) {
  Names n;
  n.base_prefix = "model.";
  const std::string base = n.base_prefix + "decoder.", layer = base + "layers.{}.", self = layer + "self_attn.";
  n.decoder.embedding = {base + "embed_tokens.weight"};
  n.decoder.positions = {base + "embed_positions.weight"};
  n.decoder.embedding_projection = base + "project_in";
  n.decoder.layer.self = {
      self + "q_proj", self + "k_proj", self + "v_proj", self + "out_proj", layer + "self_attn_layer_norm", ""};
  n.decoder.layer.fc1 = layer + "fc1";
  n.decoder.layer.fc2 = layer + "fc2";
  n.decoder.layer.norm = layer + "final_layer_norm";
  n.decoder.final_norm = base + "final_layer_norm";
  n.output_transform = base + "project_out";
  name_output("lm_head.weight", c, n);
  return n;
}

}  // namespace

const Family family_opt = {"opt", "OPT", read_opt, opt_names};

}  // namespace lapilli::model
