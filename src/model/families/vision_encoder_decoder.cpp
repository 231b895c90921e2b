// Pairs of a picture encoder (ViT, DeiT, Donut's Swin) and a text decoder with cross attention, each with a config of
// its own. Decoders: TrOCR's (Li et al. 2021), which is BART's with its output under another name; mBART's (Liu et al.
// 2020); GPT-2 (Radford et al. 2019) with cross attention, whose linear weights are stored transposed and side by side;
// BERT's and RoBERTa's (bert_group.hpp).
#include <nlohmann/json.hpp>

#include "model/families/bart_group.hpp"
#include "model/families/bert_group.hpp"
#include "model/families/decoders/gpt2.hpp"
#include "model/families/swin_group.hpp"
#include "model/families/vit_group.hpp"

namespace lapilli::model {

extern const Family family_vision_encoder_decoder;

namespace {

// ---- TrOCR ---------------------------------------------------------------------------------------------------------

Status trocr_positions(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(s.max_positions, get_size(v, "max_position_embeddings", kMaxPositionRows, 512));
  LAPILLI_TRY(const bool learned, get_bool(v, "use_learned_position_embeddings", true));
  s.positions = learned ? Positions::learned : Positions::sinusoid_fairseq;
  s.position_offset = 2;
  if (learned) return {};
  LAPILLI_TRY(const auto pad, get_id(v, "pad_token_id", 1));
  if (static_cast<uint64_t>(pad) + 1 + s.max_positions > kMaxPositionRows)
    return fail(ErrorCode::unsupported, "%s: positions start behind pad_token_id %d; at most %u rows are supported",
                v.where, pad, kMaxPositionRows);
  s.uncounted_id = static_cast<uint32_t>(pad);
  s.position_offset = s.uncounted_id + 1;
  return {};
}

// Reads the common fields of TrOCR and mBART.
Status read_bart(const JsonView& v, Config& c) {
  StackConfig& s = c.decoder;
  LAPILLI_TRY(s.d_model, get_size(v, "d_model", kMaxModelWidth, 1024));
  LAPILLI_TRY(s.layers, get_u32(v, "decoder_layers", 12));
  LAPILLI_TRY(s.heads, get_u32(v, "decoder_attention_heads", 16));
  LAPILLI_TRY(s.ffn, get_u32(v, "decoder_ffn_dim", 4096));
  LAPILLI_CHECK(read_activation(v, "activation_function", "gelu", s));
  LAPILLI_TRY(c.target_vocabulary, get_size(v, "vocab_size", kMaxVocabulary, 50265));
  LAPILLI_TRY(s.embedding_scale, get_embedding_scale(v, "scale_embedding", false, s.d_model));
  return check_stack(v, "decoder", s);
}

Status read_trocr(const JsonView& v, Config& c) {
  StackConfig& s = c.decoder;
  LAPILLI_CHECK(read_bart(v, c));
  LAPILLI_TRY(s.embedding_norm, get_bool(v, "layernorm_embedding", true));
  c.tokenizer = "roberta";
  return trocr_positions(v, s);
}

AttentionNames trocr_attention(const std::string& layer, const std::string& name) {
  return {layer + name + ".q_proj",   layer + name + ".k_proj",     layer + name + ".v_proj",
          layer + name + ".out_proj", layer + name + "_layer_norm", ""};
}

void trocr_names(const Config&, Names& n) {
  const std::string base = "decoder.model.decoder.", layer = base + "layers.{}.";
  n.decoder.embedding = {base + "embed_tokens.weight"};
  n.decoder.positions = {base + "embed_positions.weight"};
  n.decoder.embedding_norm = base + "layernorm_embedding";
  n.decoder.layer.self = trocr_attention(layer, "self_attn");
  n.decoder.layer.cross = trocr_attention(layer, "encoder_attn");
  n.decoder.layer.fc1 = layer + "fc1";
  n.decoder.layer.fc2 = layer + "fc2";
  n.decoder.layer.norm = layer + "final_layer_norm";
  n.output = {"decoder.output_projection.weight"};
}

// ---- mBART ---------------------------------------------------------------------------------------------------------

Status read_mbart(const JsonView& v, Config& c) {
  StackConfig& s = c.decoder;
  LAPILLI_CHECK(read_bart(v, c));
  LAPILLI_CHECK(check_norm_flags(v, {.before = true, .embedding = true, .final = true}));
  s.pre_norm = s.final_norm = s.embedding_norm = true;
  LAPILLI_TRY(s.max_positions, get_size(v, "max_position_embeddings", kMaxPositionRows, 1024));
  s.positions = Positions::learned;
  s.position_offset = 2;
  c.tokenizer = "xlm-roberta";
  return {};
}

void mbart_names(const Config& c, Names& n) {
  trocr_names(c, n);
  n.decoder.final_norm = "decoder.model.decoder.layer_norm";
  n.output = {"decoder.lm_head.weight"};
}

// ---- GPT-2 ---------------------------------------------------------------------------------------------------------

void name_gpt2(const Config&, Names& n) {
  name_gpt2_decoder("decoder.transformer.", true, n);
  n.output = {"decoder.lm_head.weight"};
}

// ---- BERT ----------------------------------------------------------------------------------------------------------

Status read_bert(const JsonView& v, Config& c) {
  LAPILLI_CHECK(read_bert_side(v, "decoder", c.decoder, c.target_vocabulary));
  c.tokenizer = find_bert_side(c.decoder.type)->base;
  return read_bert_head(v, c);
}

// ---- pairs ---------------------------------------------------------------------------------------------------------

struct Decoder {
  const char* model_type;
  Status (*read)(const JsonView& view, Config& config);
  void (*name)(const Config& config, Names& names);
};
constexpr Decoder kDecoders[] = {
    {"trocr", read_trocr, trocr_names},         {"mbart", read_mbart, mbart_names},
    {"gpt2", read_gpt2_decoder, name_gpt2},     {"bert", read_bert, name_bert_decoder},
    {"roberta", read_bert, name_bert_decoder},  {"xlm-roberta", read_bert, name_bert_decoder},
    {"camembert", read_bert, name_bert_decoder}};

const Decoder* find_decoder(const std::string& type) {
  for (const Decoder& decoder : kDecoders)
    if (type == decoder.model_type) return &decoder;
  return nullptr;
}

Status read_decoder(const JsonView& v, Config& c) {
  LAPILLI_TRY(c.decoder.type, get_string(v, "model_type"));
  const Decoder* decoder = find_decoder(c.decoder.type);
  if (!decoder)
    return fail(ErrorCode::unsupported,
                "%s: a pair with \"%s\" as decoder is not supported; trocr, mbart, gpt2, bert and "
                "roberta are",
                v.where, c.decoder.type);
  LAPILLI_CHECK(check_flag(v, "add_cross_attention", true));
  LAPILLI_CHECK(decoder->read(v, c));
  LAPILLI_TRY(c.tied_output, get_bool(v, "tie_word_embeddings", true));
  c.memory_projection = c.encoder.d_model != c.decoder.d_model && !has(v, "cross_attention_hidden_size");
  if (has(v, "cross_attention_hidden_size")) {
    LAPILLI_TRY(const auto width, get_u32(v, "cross_attention_hidden_size"));
    if (width != c.encoder.d_model)
      return fail(ErrorCode::invalid_data, "%s: cross_attention_hidden_size %u, but the encoder is %u wide", v.where,
                  width, c.encoder.d_model);
  }
  return {};
}

Result<Config> read_vision_encoder_decoder(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(const auto encoder, get_object(v, "encoder"));
  LAPILLI_TRY(const auto decoder, get_object(v, "decoder"));
  LAPILLI_TRY(const auto type, get_string(encoder, "model_type"));
  if (!is_picture_encoder(type) && !is_swin_encoder(type))
    return fail(ErrorCode::unsupported,
                "%s: a pair with \"%s\" as encoder is not supported; vit, deit and donut-swin are", encoder.where,
                type);
  Config c;
  c.family = "vision-encoder-decoder";
  LAPILLI_CHECK(is_swin_encoder(type) ? read_swin_encoder(encoder, c) : read_picture_encoder(encoder, c));
  LAPILLI_CHECK(read_decoder(decoder, c));
  return c;
}

Names vision_encoder_decoder_names(const Config& c) {
  Names n;
  if (is_swin_encoder(c.encoder.type))
    name_swin_encoder(c, "encoder.", n);
  else
    n.encoder = picture_encoder_names(c, "encoder.");
  find_decoder(c.decoder.type)->name(c, n);
  if (c.tied_output) {
    n.decoder.embedding.push_back(n.output[0]);
    n.output.push_back(n.decoder.embedding[0]);
  }
  n.memory_projection = "enc_to_dec_proj";
  return n;
}

}  // namespace

const Family family_vision_encoder_decoder = {
    "vision-encoder-decoder",
    "pictures to text: ViT, DeiT or Donut's Swin with the decoder of TrOCR or mBART, GPT-2, BERT or RoBERTa",
    read_vision_encoder_decoder, vision_encoder_decoder_names};

}  // namespace lapilli::model
