#include "model/families/bert_group.hpp"

#include <nlohmann/json.hpp>

#include "model/families/text_heads.hpp"

namespace lapilli::model {

namespace {

constexpr BertSide kSides[] = {{"bert", "bert", true},
                               {"roberta", "roberta", false},
                               {"xlm-roberta", "roberta", false},
                               {"camembert", "roberta", false}};

}  // namespace

const BertSide* find_bert_side(const std::string& type) {
  for (const BertSide& side : kSides)
    if (type == side.model_type) return &side;
  return nullptr;
}

namespace {

Result<const BertSide*> side_type(const JsonView& v, const char* side, StackConfig& s) {
  LAPILLI_TRY(s.type, get_string(v, "model_type"));
  const BertSide* type = find_bert_side(s.type);
  if (type) return type;
  std::string known;
  for (const BertSide& t : kSides) known += (known.empty() ? "" : ", ") + std::string(t.model_type);
  return fail(ErrorCode::unsupported, "%s: a pair with \"%s\" as %s is not supported; this version knows: %s", v.where,
              s.type, side, known);
}

}  // namespace

Status read_bert_stack(const JsonView& v, const char* side, const BertDefaults& d, StackConfig& s) {
  LAPILLI_TRY(s.d_model, get_size(v, "hidden_size", kMaxModelWidth, d.d_model));
  LAPILLI_TRY(s.layers, get_u32(v, "num_hidden_layers", d.layers));
  LAPILLI_TRY(s.heads, get_u32(v, "num_attention_heads", d.heads));
  LAPILLI_TRY(s.ffn, get_u32(v, "intermediate_size", d.ffn));
  LAPILLI_CHECK(read_activation(v, "hidden_act", d.activation, s));
  LAPILLI_TRY(s.norm_epsilon, get_epsilon(v, "layer_norm_eps", 1e-12f));
  LAPILLI_TRY(s.max_positions, get_size(v, "max_position_embeddings", kMaxPositionRows, 512));
  LAPILLI_TRY(const auto kind, get_string(v, "position_embedding_type", "absolute"));
  if (kind != "absolute")
    return fail(ErrorCode::unsupported, "%s: position_embedding_type \"%s\" of the %s is not supported", v.where, kind,
                side);
  s.embedding_norm = true;
  s.positions = Positions::learned;
  return check_stack(v, side, s);
}

Status count_positions(const JsonView& v, const char* side, uint32_t pad, StackConfig& s) {
  if (uint64_t{pad} + 1 >= s.max_positions)
    return fail(ErrorCode::invalid_data, "%s: pad_token_id %u of the %s leaves none of its %u positions", v.where, pad,
                side, s.max_positions);
  s.uncounted_id = pad;
  s.position_offset = pad + 1;
  s.max_positions -= s.position_offset;
  return {};
}

Status read_bert_side(const JsonView& v, const char* side, StackConfig& s, uint32_t& vocabulary) {
  LAPILLI_TRY(const BertSide* type, side_type(v, side, s));
  LAPILLI_CHECK(read_bert_stack(v, side, {}, s));
  LAPILLI_TRY(vocabulary, get_size(v, "vocab_size", kMaxVocabulary, type->bert ? 30522 : 50265));
  LAPILLI_TRY(const auto types, get_u32(v, "type_vocab_size", 2));
  s.token_types = types > 0;
  if (type->bert) return {};
  LAPILLI_TRY(const auto pad, get_id(v, "pad_token_id", 1));
  return count_positions(v, side, static_cast<uint32_t>(pad), s);
}

Status read_embedding_width(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(s.embedding_width, get_size(v, "embedding_size", kMaxModelWidth, 128));
  return {};
}

Status read_source_vocabulary(const JsonView& v, uint32_t missing, Config& c) {
  LAPILLI_TRY(c.source_vocabulary, get_size(v, "vocab_size", kMaxVocabulary, missing));
  c.target_vocabulary = c.source_vocabulary;
  c.shared_embeddings = false;
  return {};
}

Status check_encoder_alone(const JsonView& v) {
  LAPILLI_CHECK(check_own_code(v));
  LAPILLI_CHECK(check_flag(v, "is_decoder", false));
  return check_flag(v, "add_cross_attention", false);
}

Status read_row_types(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(const auto types, get_u32(v, "type_vocab_size", 2));
  if (types > kMaxTokenTypes)
    return fail(ErrorCode::invalid_data, "%s: type_vocab_size %u is above %u", v.where, types, kMaxTokenTypes);
  s.token_types = types == 1;
  s.row_types = types > 1 ? types : 0;
  return {};
}

Result<Config> read_bert_encoder(const JsonView& v) {
  LAPILLI_CHECK(check_encoder_alone(v));
  Config c;
  LAPILLI_CHECK(read_bert_side(v, "encoder", c.encoder, c.source_vocabulary));
  LAPILLI_CHECK(read_row_types(v, c.encoder));
  c.family = c.tokenizer = c.encoder.type;
  c.target_vocabulary = c.source_vocabulary;
  c.shared_embeddings = false;
  return c;
}

Status read_bert_head(const JsonView& v, Config& c) {
  LAPILLI_CHECK(read_id_scores(v, c));
  c.output_activation = find_bert_side(c.decoder.type)->bert ? c.decoder.activation : Activation::gelu_erf;
  c.memory_projection = c.encoder.d_model != c.decoder.d_model && !has(v, "cross_attention_hidden_size");
  return {};
}

namespace {

AttentionNames bert_attention(const std::string& prefix) {
  return {prefix + ".self.query",   prefix + ".self.key",         prefix + ".self.value",
          prefix + ".output.dense", prefix + ".output.LayerNorm", ""};
}

}  // namespace

StackNames bert_side_names(const std::string& prefix, bool cross) {
  const std::string embeddings = prefix + "embeddings.", layer = prefix + "encoder.layer.{}.";
  StackNames n;
  n.embedding = {embeddings + "word_embeddings.weight"};
  n.positions = {embeddings + "position_embeddings.weight"};
  n.token_types = {embeddings + "token_type_embeddings.weight"};
  n.embedding_norm = embeddings + "LayerNorm";
  n.layer.self = bert_attention(layer + "attention");
  if (cross) n.layer.cross = bert_attention(layer + "crossattention");
  n.layer.fc1 = layer + "intermediate.dense";
  n.layer.fc2 = layer + "output.dense";
  n.layer.norm = layer + "output.LayerNorm";
  return n;
}

void name_id_scores(const std::string& prefix, bool bert, Names& n) {
  const std::string head = prefix + (bert ? "cls.predictions." : "lm_head.");
  n.output = {head + "decoder.weight"};
  n.logits_bias = {head + "bias", head + "decoder.bias"};
  n.output_transform = head + (bert ? "transform.dense" : "dense");
  n.output_norm = head + (bert ? "transform.LayerNorm" : "layer_norm");
}

Names bert_encoder_names(const Config& c) {
  const BertSide* side = find_bert_side(c.encoder.type);
  Names n;
  n.base_prefix = std::string(side->base) + ".";
  n.encoder = bert_side_names(n.base_prefix, false);
  name_id_scores("", side->bert, n);
  if (c.tied_output) tie_encoder_output(n);
  return n;
}

void name_bert_decoder(const Config& c, Names& n) {
  const BertSide* decoder = find_bert_side(c.decoder.type);
  const std::string base = std::string("decoder.") + decoder->base + ".";
  n.decoder = bert_side_names(base, true);
  n.other_prefixes.emplace_back(base, "decoder.");
  name_id_scores("decoder.", decoder->bert, n);
  n.memory_projection = "enc_to_dec_proj";
}

}  // namespace lapilli::model
