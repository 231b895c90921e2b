// Pairs of BERT-like models (Rothe et al. 2020): an encoder, and a decoder with cross attention and a language head,
// each with a config of its own. Sides: BERT (Devlin et al. 2019) and RoBERTa (Liu et al. 2019), which differ in
// positions and in names. Post-norm, learned positions, token types, normalized embeddings.
#include <nlohmann/json.hpp>

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

extern const Family family_encoder_decoder;

namespace {

// A model type that a side may have.
struct SideType {
  const char* model_type;
  const char* base;  // prefix of a model with a head
  bool bert;         // BERT's positions and head; otherwise RoBERTa's
};
constexpr SideType kSides[] = {{"bert", "bert", true},
                               {"roberta", "roberta", false},
                               {"xlm-roberta", "roberta", false},
                               {"camembert", "roberta", false}};

const SideType* find_side(const std::string& type) {
  for (const SideType& side : kSides)
    if (type == side.model_type) return &side;
  return nullptr;
}

Result<const SideType*> side_type(const JsonView& v, const char* side, StackConfig& s) {
  LAPILLI_TRY(s.type, get_string(v, "model_type"));
  const SideType* type = find_side(s.type);
  if (type) return type;
  std::string known;
  for (const SideType& t : kSides) known += (known.empty() ? "" : ", ") + std::string(t.model_type);
  return fail(ErrorCode::unsupported, "%s: a pair with \"%s\" as %s is not supported; this version knows: %s",
              v.where.c_str(), s.type.c_str(), side, known.c_str());
}

Status read_side(const JsonView& v, const char* side, StackConfig& s, uint32_t& vocabulary) {
  LAPILLI_TRY(const SideType* type, side_type(v, side, s));
  LAPILLI_TRY(s.d_model, get_size(v, "hidden_size", kMaxModelWidth, 768));
  LAPILLI_TRY(s.layers, get_u32(v, "num_hidden_layers", 12));
  LAPILLI_TRY(s.heads, get_u32(v, "num_attention_heads", 12));
  LAPILLI_TRY(s.ffn, get_u32(v, "intermediate_size", 3072));
  LAPILLI_CHECK(read_activation(v, "hidden_act", "gelu", s));
  LAPILLI_TRY(s.norm_epsilon, get_epsilon(v, "layer_norm_eps", 1e-12f));
  LAPILLI_TRY(vocabulary, get_size(v, "vocab_size", kMaxVocabulary, type->bert ? 30522 : 50265));
  LAPILLI_TRY(s.max_positions, get_size(v, "max_position_embeddings", kMaxPositionRows, 512));
  LAPILLI_TRY(const auto kind, get_string(v, "position_embedding_type", "absolute"));
  if (kind != "absolute")
    return fail(ErrorCode::unsupported, "%s: position_embedding_type \"%s\" of the %s is not supported",
                v.where.c_str(), kind.c_str(), side);
  LAPILLI_TRY(const auto types, get_u32(v, "type_vocab_size", 2));
  s.token_types = types > 0;
  s.embedding_norm = true;
  s.positions = Positions::learned;
  if (!type->bert) {
    // Positions are counted from the one behind the padding id's row, over ids that are not padding.
    LAPILLI_TRY(const auto pad, get_id(v, "pad_token_id", 1));
    if (static_cast<uint64_t>(pad) + 1 >= s.max_positions)
      return fail(ErrorCode::invalid_data, "%s: pad_token_id %d of the %s leaves none of its %u positions",
                  v.where.c_str(), pad, side, s.max_positions);
    s.uncounted_id = static_cast<uint32_t>(pad);
    s.position_offset = s.uncounted_id + 1;
    s.max_positions -= s.position_offset;
  }
  return check_stack(v, side, s);
}

Result<Config> read_encoder_decoder(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(const auto encoder, get_object(v, "encoder"));
  LAPILLI_TRY(const auto decoder, get_object(v, "decoder"));
  Config c;
  c.family = "encoder-decoder";
  LAPILLI_CHECK(read_side(encoder, "encoder", c.encoder, c.source_vocabulary));
  LAPILLI_CHECK(read_side(decoder, "decoder", c.decoder, c.target_vocabulary));
  c.tokenizer = find_side(c.encoder.type)->base;
  c.shared_embeddings = false;
  LAPILLI_TRY(c.tied_output, get_bool(decoder, "tie_word_embeddings", true));
  c.logits_bias = true;
  c.output_transform = true;
  c.output_activation = find_side(c.decoder.type)->bert ? c.decoder.activation : Activation::gelu_erf;
  c.memory_projection = c.encoder.d_model != c.decoder.d_model && !has(decoder, "cross_attention_hidden_size");
  return c;
}

AttentionNames encoder_decoder_attention(const std::string& prefix) {
  return {prefix + ".self.query",   prefix + ".self.key",         prefix + ".self.value",
          prefix + ".output.dense", prefix + ".output.LayerNorm", ""};
}

StackNames side_names(const std::string& prefix, bool cross) {
  const std::string embeddings = prefix + "embeddings.", layer = prefix + "encoder.layer.{}.";
  StackNames n;
  n.embedding = {embeddings + "word_embeddings.weight"};
  n.positions = {embeddings + "position_embeddings.weight"};
  n.token_types = {embeddings + "token_type_embeddings.weight"};
  n.embedding_norm = embeddings + "LayerNorm";
  n.layer.self = encoder_decoder_attention(layer + "attention");
  if (cross) n.layer.cross = encoder_decoder_attention(layer + "crossattention");
  n.layer.fc1 = layer + "intermediate.dense";
  n.layer.fc2 = layer + "output.dense";
  n.layer.norm = layer + "output.LayerNorm";
  return n;
}

Names encoder_decoder_names(const Config& c) {
  const SideType *encoder = find_side(c.encoder.type), *decoder = find_side(c.decoder.type);
  const std::string encoder_base = std::string("encoder.") + encoder->base + ".",
                    decoder_base = std::string("decoder.") + decoder->base + ".";
  const std::string head = decoder->bert ? "decoder.cls.predictions." : "decoder.lm_head.";
  Names n;
  n.encoder = side_names("encoder.", false);
  n.decoder = side_names(decoder_base, true);
  n.other_prefixes = {{"encoder.", encoder_base}, {decoder_base, "decoder."}};
  n.output = {head + "decoder.weight"};
  if (c.tied_output) {
    n.output.push_back(n.decoder.embedding[0]);
    n.decoder.embedding.push_back(n.output[0]);
  }
  n.logits_bias = {head + "bias", head + "decoder.bias"};
  n.output_transform = head + (decoder->bert ? "transform.dense" : "dense");
  n.output_norm = head + (decoder->bert ? "transform.LayerNorm" : "layer_norm");
  n.memory_projection = "enc_to_dec_proj";
  return n;
}

}  // namespace

const Family family_encoder_decoder = {"encoder-decoder", "pairs of BERT and RoBERTa models", read_encoder_decoder,
                                       encoder_decoder_names};

}  // namespace lapilli::model
