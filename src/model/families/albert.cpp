// ALBERT (Lan et al. 2020) as an encoder alone, with a pooler or one of its heads: BERT whose layers share weights, and
// whose embeddings are narrower.
#include <nlohmann/json.hpp>

#include "model/families/bert_group.hpp"
#include "model/families/text_heads.hpp"

namespace lapilli::model {

extern const Family family_albert;

namespace {

constexpr TextHeads kAlbertHeads = {"Albert", "albert.pooler", "albert.pooler"};

Status read_layer_groups(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(s.layer_groups, get_size(v, "num_hidden_groups", kMaxModelLayers, 1));
  if (s.layer_groups > s.layers)
    return fail(ErrorCode::invalid_data, "%s: num_hidden_groups %u, but %u layers", v.where, s.layer_groups, s.layers);
  LAPILLI_TRY(const auto inner, get_u32(v, "inner_group_num", 1));
  if (inner == 1) return {};
  return fail(ErrorCode::unsupported, "%s: inner_group_num %u is not supported; 1 is", v.where, inner);
}

Result<Config> read_albert(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_CHECK(check_encoder_alone(v));
  Config c;
  c.family = c.tokenizer = c.encoder.type = "albert";
  LAPILLI_CHECK(read_bert_stack(v, "encoder", {4096, 12, 64, 16384, "gelu_new"}, c.encoder));
  LAPILLI_CHECK(read_row_types(v, c.encoder));
  LAPILLI_CHECK(read_embedding_width(v, c.encoder));
  LAPILLI_CHECK(read_layer_groups(v, c.encoder));
  LAPILLI_CHECK(read_source_vocabulary(v, 30000, c));
  LAPILLI_CHECK(read_text_head(v, kAlbertHeads, c));
  return c;
}

LayerNames albert_layer(const std::string& layer) {
  const std::string attention = layer + "attention.";
  LayerNames n;
  n.self = {attention + "query", attention + "key",       attention + "value",
            attention + "dense", attention + "LayerNorm", ""};
  n.fc1 = layer + "ffn";
  n.fc2 = layer + "ffn_output";
  n.norm = layer + "full_layer_layer_norm";
  return n;
}

Names albert_names(const Config& c) {
  Names n;
  n.base_prefix = "albert.";
  n.encoder = bert_side_names(n.base_prefix, false);
  n.encoder.layer = albert_layer(n.base_prefix + "encoder.albert_layer_groups.{}.albert_layers.0.");
  n.encoder.embedding_projection = n.base_prefix + "encoder.embedding_hidden_mapping_in";
  n.output = {"predictions.decoder.weight"};
  n.logits_bias = {"predictions.bias", "predictions.decoder.bias"};
  n.output_transform = "predictions.dense";
  n.output_norm = "predictions.LayerNorm";
  if (c.tied_output) tie_encoder_output(n);
  n.heads = {text_head_names(c, kAlbertHeads)};
  return n;
}

}  // namespace

const Family family_albert = {"albert", "ALBERT, an encoder of text", read_albert, albert_names};

}  // namespace lapilli::model
