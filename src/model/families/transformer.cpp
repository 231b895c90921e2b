// Translation models of fairseq, OpenNMT-py and Tensor2Tensor: Vaswani et al. 2017 with what these programs vary. No
// directory of Transformers has this type: the doors of these programs write its config.json.
#include "model/families/bart_group.hpp"

namespace lapilli::model {

extern const Family family_transformer;

namespace {

struct PositionsName {
  const char* name;
  Positions kind;
};
constexpr PositionsName kPositionsNames[] = {{"none", Positions::none},
                                             {"learned", Positions::learned},
                                             {"sinusoid_stored", Positions::sinusoid_stored},
                                             {"sinusoid_fairseq", Positions::sinusoid_fairseq}};

Result<Positions> find_positions_named(const JsonView& v, const std::string& key) {
  LAPILLI_TRY(const auto name, get_string(v, key.c_str(), "none"));
  for (const PositionsName& known : kPositionsNames)
    if (name == known.name) return known.kind;
  return fail(ErrorCode::unsupported, "%s: %s '%s' is not known", v.where, key, name);
}

Status read_side_positions(const JsonView& v, const std::string& side, StackConfig& s) {
  LAPILLI_TRY(s.positions, find_positions_named(v, side + "positions"));
  LAPILLI_TRY(s.max_positions, get_size(v, (side + "max_positions").c_str(), kMaxPositionRows, 1024));
  LAPILLI_TRY(s.position_offset, get_u32(v, "position_offset", 0));
  LAPILLI_TRY(s.uncounted_id, get_u32(v, "uncounted_id", kNoPositionId));
  if (s.position_offset > kMaxPositionRows - s.max_positions)
    return fail(ErrorCode::unsupported, "%s: positions from %u on; at most %u rows are supported", v.where,
                s.position_offset, kMaxPositionRows);
  return {};
}

Status read_attention_biases(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(s.qkv_bias, get_bool(v, "attention_bias", true));
  LAPILLI_TRY(s.out_bias, get_bool(v, "attention_out_bias", true));
  LAPILLI_TRY(s.ffn_bias, get_bool(v, "ffn_bias", true));
  return {};
}

Status read_transformer_side(const JsonView& v, const std::string& side, StackConfig& s) {
  LAPILLI_TRY(s.pre_norm, get_bool(v, (side + "normalize_before").c_str(), false));
  LAPILLI_TRY(s.final_norm, get_bool(v, (side + "final_norm").c_str(), s.pre_norm));
  LAPILLI_TRY(s.embedding_norm, get_bool(v, "normalize_embedding", false));
  LAPILLI_TRY(s.norm_epsilon, get_epsilon(v, "layer_norm_eps", 1e-5f));
  LAPILLI_TRY(s.gated, get_bool(v, "gated", false));
  LAPILLI_TRY(s.reach, get_optional_size(v, "max_relative_positions", kMaxPositionRows));
  LAPILLI_CHECK(read_attention_biases(v, s));
  return read_side_positions(v, side, s);
}

Result<Config> read_transformer(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, bart_config(v, {"transformer", "relu", true}));
  LAPILLI_TRY(c.target_vocabulary, get_size(v, "decoder_vocab_size", kMaxVocabulary, c.source_vocabulary));
  c.shared_embeddings = c.source_vocabulary == c.target_vocabulary;
  LAPILLI_CHECK(read_transformer_side(v, "encoder_", c.encoder));
  LAPILLI_CHECK(read_transformer_side(v, "decoder_", c.decoder));
  return c;
}

Names transformer_names(const Config& c) {
  Names n = bart_names(c);
  n.encoder.layer.gate = "model.encoder.layers.{}.gate";
  n.decoder.layer.gate = "model.decoder.layers.{}.gate";
  n.encoder.layer.self.distance_table = "model.encoder.layers.{}.self_attn.relative_positions.weight";
  n.decoder.layer.self.distance_table = "model.decoder.layers.{}.self_attn.relative_positions.weight";
  return n;
}

}  // namespace

const Family family_transformer = {"transformer", "Transformers of fairseq, OpenNMT-py and Tensor2Tensor",
                                   read_transformer, transformer_names};

}  // namespace lapilli::model
