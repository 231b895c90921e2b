// Moonshine (speech recognition): Jeffries et al. 2024. Three convolutions over raw samples, with a norm over the whole
// recording after the first; rotary positions, norms without bias, a gated feed-forward in the decoder.
#include <nlohmann/json.hpp>

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

extern const Family family_moonshine;

namespace {

// Reads rope_parameters, or in older files the same keys of config.json itself.
Status read_rotary(const JsonView& v, StackConfig& s) {
  if (has(v, "rope_scaling"))
    return fail(ErrorCode::unsupported, "%s: rope_scaling is not supported in this family", v.where);
  const auto it = v.json.find("rope_parameters");
  const bool own = it != v.json.end() && it->is_object();
  const JsonView from{own ? *it : v.json, own ? v.where + ": rope_parameters" : v.where};
  LAPILLI_TRY(const auto type, get_string(from, "rope_type", "default"));
  if (type != "default")
    return fail(ErrorCode::unsupported, "%s: rope_type \"%s\" is not supported in this family", from.where, type);
  LAPILLI_TRY(const float factor, get_float(from, "partial_rotary_factor", 0.9f));
  LAPILLI_TRY(const float base, get_float(from, "rope_theta", 10000.0f));
  if (!(factor >= 0 && factor <= 1) || !(base >= 1))
    return fail(ErrorCode::invalid_data, "%s: partial_rotary_factor %g of heads with rope_theta %g", from.where,
                static_cast<double>(factor), static_cast<double>(base));
  // In double precision: 0.9 as a float is smaller, and 10 times it would be below 9.
  const double exact = has(from, "partial_rotary_factor") ? from.json.at("partial_rotary_factor").get<double>() : 0.9;
  s.rotary = static_cast<uint32_t>(s.head_dim * exact);
  s.rotary_base = static_cast<double>(base);
  if (2 * s.rotary_pairs() <= s.head_dim) return {};
  return fail(ErrorCode::unsupported, "%s: %u of a head's %u numbers are turned by positions, which takes pairs",
              from.where, s.rotary, s.head_dim);
}

Status read_moonshine_stack(const JsonView& v, const std::string& side, StackConfig& s) {
  LAPILLI_TRY(s.d_model, get_size(v, "hidden_size", kMaxModelWidth, 288));
  LAPILLI_TRY(s.ffn, get_size(v, "intermediate_size", kMaxFeedForward, 1152));
  LAPILLI_TRY(s.layers, get_u32(v, (side + "_num_hidden_layers").c_str(), 6));
  LAPILLI_TRY(s.heads, get_u32(v, (side + "_num_attention_heads").c_str(), 8));
  LAPILLI_TRY(s.cache_heads, get_u32(v, (side + "_num_key_value_heads").c_str(), s.heads));
  LAPILLI_TRY(s.qkv_bias, get_bool(v, "attention_bias", false));
  LAPILLI_CHECK(check_stack(v, side.c_str(), s));
  s.out_bias = s.norm_bias = false;
  s.pre_norm = s.final_norm = true;
  return read_rotary(v, s);
}

Result<Config> read_moonshine(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  Config c;
  c.family = c.tokenizer = "moonshine";
  LAPILLI_CHECK(read_moonshine_stack(v, "encoder", c.encoder));
  LAPILLI_CHECK(read_moonshine_stack(v, "decoder", c.decoder));
  LAPILLI_CHECK(read_activation(v, "encoder_hidden_act", "gelu", c.encoder));
  LAPILLI_CHECK(read_activation(v, "decoder_hidden_act", "silu", c.decoder));
  c.decoder.gated = true;
  // Neither the file nor the reference bounds the encoder's positions.
  c.encoder.max_positions = kMaxPositionRows;
  LAPILLI_TRY(c.decoder.max_positions, get_size(v, "max_position_embeddings", kMaxPositionRows, 512));
  LAPILLI_TRY(c.target_vocabulary, get_size(v, "vocab_size", kMaxVocabulary, 32768));
  LAPILLI_TRY(c.tied_output, get_bool(v, "tie_word_embeddings", true));
  c.shared_embeddings = false;
  const uint32_t d = c.encoder.d_model;
  c.features.width = 1;
  c.features.layers = {{127, 64, 0, 0, d, Activation::tanh, false, false, true},
                       {7, 3, 0, 0, 2 * d, Activation::gelu_erf},
                       {3, 2, 0, 0, d, Activation::gelu_erf}};
  return c;
}

AttentionNames moonshine_attention(const std::string& prefix, const std::string& norm) {
  return {prefix + ".q_proj", prefix + ".k_proj", prefix + ".v_proj", prefix + ".o_proj", norm, ""};
}

StackNames moonshine_stack(const std::string& prefix) {
  const std::string layer = prefix + "layers.{}.";
  StackNames n;
  n.layer.self = moonshine_attention(layer + "self_attn", layer + "input_layernorm");
  n.layer.fc1 = n.layer.gate = layer + "mlp.fc1";
  n.layer.fc2 = layer + "mlp.fc2";
  return n;
}

Names moonshine_names(const Config& c) {
  const std::string encoder = "model.encoder.", decoder = "model.decoder.", layer = "layers.{}.";
  Names n;
  n.base_prefix = "model.";
  n.encoder = moonshine_stack(encoder);
  n.encoder.layer.norm = encoder + layer + "post_attention_layernorm";
  n.encoder.final_norm = encoder + "layer_norm";
  n.encoder.input = {encoder + "conv1", encoder + "conv2", encoder + "conv3"};
  n.encoder.input_norms = {encoder + "groupnorm", "", ""};
  n.decoder = moonshine_stack(decoder);
  n.decoder.layer.cross =
      moonshine_attention(decoder + layer + "encoder_attn", decoder + layer + "post_attention_layernorm");
  n.decoder.layer.norm = decoder + layer + "final_layernorm";
  n.decoder.final_norm = decoder + "norm";
  n.decoder.embedding = {decoder + "embed_tokens.weight"};
  n.output = {"proj_out.weight"};
  if (c.tied_output) {
    n.output.push_back(n.decoder.embedding.front());
    n.decoder.embedding.emplace_back("proj_out.weight");
  }
  return n;
}

}  // namespace

const Family family_moonshine = {"moonshine", "Moonshine (speech recognition)", read_moonshine, moonshine_names};

}  // namespace lapilli::model
