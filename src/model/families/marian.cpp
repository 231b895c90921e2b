// Marian (opus-mt): Junczys-Dowmunt et al. 2018, as published by Helsinki-NLP. Post-norm, sinusoidal positions with
// sines in the first half, embeddings scaled by sqrt(d_model), a bias on the logits, embeddings shared or one per side.
#include <algorithm>
#include <cmath>

#include "formats/hf_config.hpp"
#include "model/families/family.hpp"

namespace lapilli::model {

extern const Family family_marian;

namespace {

struct NamedActivation {
  const char* name;
  Activation activation;
};
constexpr NamedActivation kActivations[] = {{"relu", Activation::relu},
                                            {"gelu", Activation::gelu_erf},
                                            {"gelu_python", Activation::gelu_erf},
                                            {"gelu_new", Activation::gelu_tanh},
                                            {"gelu_fast", Activation::gelu_tanh},
                                            {"gelu_pytorch_tanh", Activation::gelu_tanh},
                                            {"silu", Activation::silu},
                                            {"swish", Activation::silu},
                                            {"linear", Activation::none}};

Result<Activation> parse_activation(const std::string& name, const std::string& where) {
  for (const NamedActivation& known : kActivations)
    if (name == known.name) return known.activation;
  return fail(ErrorCode::unsupported, "%s: activation_function \"%s\" is not known", where.c_str(), name.c_str());
}

Status check_stack(const StackConfig& s, uint32_t d, const char* side, const std::string& where) {
  if (s.layers == 0 || s.layers > 256 || s.ffn == 0 || s.ffn > 1u << 20)
    return fail(ErrorCode::invalid_data, "%s: %s with %u layers and a feed-forward width of %u", where.c_str(), side,
                s.layers, s.ffn);
  if (s.heads == 0 || d % s.heads != 0)
    return fail(ErrorCode::invalid_data, "%s: %s_attention_heads %u does not divide d_model %u", where.c_str(), side,
                s.heads, d);
  return {};
}

Result<Config> config(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  Config c;
  c.family = "marian";
  c.tokenizer = "marian";
  LAPILLI_TRY(c.d_model, get_u32(v, "d_model"));
  if (c.d_model == 0 || c.d_model > 1u << 16)
    return fail(ErrorCode::invalid_data, "%s: d_model %u", where.c_str(), c.d_model);
  LAPILLI_TRY(c.encoder.layers, get_u32(v, "encoder_layers"));
  LAPILLI_TRY(c.encoder.heads, get_u32(v, "encoder_attention_heads"));
  LAPILLI_TRY(c.encoder.ffn, get_u32(v, "encoder_ffn_dim"));
  LAPILLI_TRY(c.decoder.layers, get_u32(v, "decoder_layers"));
  LAPILLI_TRY(c.decoder.heads, get_u32(v, "decoder_attention_heads"));
  LAPILLI_TRY(c.decoder.ffn, get_u32(v, "decoder_ffn_dim"));
  LAPILLI_CHECK(check_stack(c.encoder, c.d_model, "encoder", where));
  LAPILLI_CHECK(check_stack(c.decoder, c.d_model, "decoder", where));
  LAPILLI_TRY(c.source_vocabulary, get_u32(v, "vocab_size"));
  LAPILLI_TRY(c.target_vocabulary, get_u32(v, "decoder_vocab_size", c.source_vocabulary));
  LAPILLI_TRY(c.shared_embeddings, get_bool(v, "share_encoder_decoder_embeddings", true));
  if (c.shared_embeddings) c.target_vocabulary = c.source_vocabulary;
  if (c.source_vocabulary == 0 || c.target_vocabulary == 0 ||
      std::max(c.source_vocabulary, c.target_vocabulary) > 1u << 24)
    return fail(ErrorCode::invalid_data, "%s: vocab_size %u, decoder_vocab_size %u", where.c_str(), c.source_vocabulary,
                c.target_vocabulary);
  LAPILLI_TRY(c.max_positions, get_u32(v, "max_position_embeddings", 1024));
  if (c.max_positions == 0 || c.max_positions > 1u << 16)
    return fail(ErrorCode::invalid_data, "%s: max_position_embeddings %u", where.c_str(), c.max_positions);
  LAPILLI_TRY(c.activation_name, get_string(v, "activation_function", "gelu"));
  LAPILLI_TRY(c.activation, parse_activation(c.activation_name, where));
  LAPILLI_TRY(const bool scaled, get_bool(v, "scale_embedding", false));
  c.embedding_scale = scaled ? std::sqrt(static_cast<float>(c.d_model)) : 1.0f;
  LAPILLI_TRY(c.tied_output, get_bool(v, "tie_word_embeddings", true));
  // Fields that only very old or experimental Marian files set; their networks would be wrong in silence.
  for (const char* key : {"normalize_before", "normalize_embedding", "add_final_layer_norm"}) {
    LAPILLI_TRY(const bool set, get_bool(v, key, false));
    if (set) return fail(ErrorCode::unsupported, "%s: %s is not supported in a Marian model", where.c_str(), key);
  }
  c.positions = Positions::sinusoid_split;
  c.logits_bias = true;
  return c;
}

AttentionNames attention(const std::string& prefix, const std::string& name) {
  return {prefix + name + ".q_proj", prefix + name + ".k_proj", prefix + name + ".v_proj", prefix + name + ".out_proj",
          prefix + name + "_layer_norm"};
}

LayerNames layer(const std::string& prefix, bool cross) {
  LayerNames n;
  n.self = attention(prefix, "self_attn");
  if (cross) n.cross = attention(prefix, "encoder_attn");
  n.fc1 = prefix + "fc1";
  n.fc2 = prefix + "fc2";
  n.norm = prefix + "final_layer_norm";
  return n;
}

Names names(const Config& c) {
  const std::string shared = "model.shared.weight", encoder = "model.encoder.embed_tokens.weight",
                    decoder = "model.decoder.embed_tokens.weight", head = "lm_head.weight";
  Names n;
  // Any member of a tied group may be the one that was stored.
  if (c.shared_embeddings) {
    n.source_embedding = {shared, encoder, decoder};
    n.target_embedding = {shared, decoder, encoder};
  } else {
    n.source_embedding = {encoder};
    n.target_embedding = {decoder};
  }
  n.output = {head};
  if (c.tied_output) {
    n.output.insert(n.output.end(), n.target_embedding.begin(), n.target_embedding.end());
    n.target_embedding.push_back(head);
    if (c.shared_embeddings) n.source_embedding.push_back(head);
  }
  n.source_positions = {"model.encoder.embed_positions.weight"};
  n.target_positions = {"model.decoder.embed_positions.weight"};
  n.logits_bias = {"final_logits_bias"};
  n.encoder = layer("model.encoder.layers.{}.", false);
  n.decoder = layer("model.decoder.layers.{}.", true);
  return n;
}

}  // namespace

const Family family_marian = {"marian", "Marian translation models (opus-mt)", config, names};

}  // namespace lapilli::model
