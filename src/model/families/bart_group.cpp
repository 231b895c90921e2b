#include "model/families/bart_group.hpp"

namespace lapilli::model {

namespace {

AttentionNames bart_attention(const std::string& prefix, const std::string& name) {
  return {prefix + name + ".q_proj",   prefix + name + ".k_proj",     prefix + name + ".v_proj",
          prefix + name + ".out_proj", prefix + name + "_layer_norm", ""};
}

StackNames bart_stack(const std::string& prefix, bool cross) {
  const std::string layer = prefix + "layers.{}.";
  StackNames n;
  n.positions = {prefix + "embed_positions.weight"};
  n.embedding_norm = prefix + "layernorm_embedding";
  n.final_norm = prefix + "layer_norm";
  n.layer.self = bart_attention(layer, "self_attn");
  if (cross) n.layer.cross = bart_attention(layer, "encoder_attn");
  n.layer.fc1 = layer + "fc1";
  n.layer.fc2 = layer + "fc2";
  n.layer.norm = layer + "final_layer_norm";
  return n;
}

}  // namespace

Result<Config> bart_config(const JsonView& v, const BartDefaults& defaults) {
  Config c;
  c.family = c.tokenizer = defaults.family;
  LAPILLI_TRY(const auto d_model, get_size(v, "d_model", kMaxModelWidth));
  LAPILLI_TRY(c.encoder.layers, get_u32(v, "encoder_layers"));
  LAPILLI_TRY(c.encoder.heads, get_u32(v, "encoder_attention_heads"));
  LAPILLI_TRY(c.encoder.ffn, get_u32(v, "encoder_ffn_dim"));
  LAPILLI_TRY(c.decoder.layers, get_u32(v, "decoder_layers"));
  LAPILLI_TRY(c.decoder.heads, get_u32(v, "decoder_attention_heads"));
  LAPILLI_TRY(c.decoder.ffn, get_u32(v, "decoder_ffn_dim"));
  LAPILLI_TRY(c.source_vocabulary, get_size(v, defaults.vocabulary, kMaxVocabulary));
  c.target_vocabulary = c.source_vocabulary;
  LAPILLI_TRY(const auto positions, get_size(v, "max_position_embeddings", kMaxPositionRows, 1024));
  LAPILLI_TRY(const auto scale, get_embedding_scale(v, "scale_embedding", defaults.scale_embedding, d_model));
  for (StackConfig* s : {&c.encoder, &c.decoder}) {
    s->d_model = d_model;
    s->max_positions = positions;
    s->embedding_scale = scale;
    LAPILLI_CHECK(read_activation(v, "activation_function", defaults.activation, *s));
    LAPILLI_CHECK(check_stack(v, s == &c.encoder ? "encoder" : "decoder", *s));
  }
  LAPILLI_TRY(c.tied_output, get_bool(v, "tie_word_embeddings", true));
  c.logits_bias = true;
  return c;
}

void set_pre_norm(Config& c) {
  for (StackConfig* s : {&c.encoder, &c.decoder}) s->pre_norm = s->final_norm = true;
}

void set_embedding_norm(Config& c) { c.encoder.embedding_norm = c.decoder.embedding_norm = true; }

void set_positions(Config& c, Positions kind, uint32_t offset) {
  for (StackConfig* s : {&c.encoder, &c.decoder}) {
    s->positions = kind;
    s->position_offset = offset;
  }
}

Status set_fairseq_positions(const JsonView& v, Config& c) {
  LAPILLI_TRY(const auto pad, get_u32(v, "pad_token_id", 1));
  if (pad >= kMaxPositionRows || pad + 1 + c.decoder.max_positions > kMaxPositionRows)
    return fail(ErrorCode::unsupported, "%s: positions start behind pad_token_id %u; at most %u rows are supported",
                v.where, pad, kMaxPositionRows);
  set_positions(c, Positions::sinusoid_fairseq, pad + 1);
  c.encoder.uncounted_id = c.decoder.uncounted_id = pad;
  return {};
}

Status check_norm_flags(const JsonView& v, const NormFlags& family) {
  LAPILLI_CHECK(check_flag(v, "normalize_before", family.before));
  LAPILLI_CHECK(check_flag(v, "normalize_embedding", family.embedding));
  return check_flag(v, "add_final_layer_norm", family.final);
}

Names bart_names_under(const Config& c, const std::string& base) {
  const std::string shared = base + "shared.weight", head = "lm_head.weight";
  Names n;
  n.base_prefix = base;
  n.encoder = bart_stack(base + "encoder.", false);
  n.decoder = bart_stack(base + "decoder.", true);
  const std::string encoder = base + "encoder.embed_tokens.weight", decoder = base + "decoder.embed_tokens.weight";
  // Any member of a tied group may be the one stored. Its own name comes first: members with different values are not
  // tied, whatever config.json says.
  n.encoder.embedding = {encoder};
  n.decoder.embedding = {decoder};
  if (c.shared_embeddings) {
    n.encoder.embedding = {encoder, shared, decoder};
    n.decoder.embedding = {decoder, shared, encoder};
  }
  n.output = {head};
  if (c.tied_output) {
    n.output.insert(n.output.end(), n.decoder.embedding.begin(), n.decoder.embedding.end());
    n.decoder.embedding.push_back(head);
    if (c.shared_embeddings) n.encoder.embedding.push_back(head);
  }
  n.logits_bias = {"final_logits_bias"};
  return n;
}

Names bart_names(const Config& c) { return bart_names_under(c, "model."); }

}  // namespace lapilli::model
