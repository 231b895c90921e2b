// DeBERTa v2 and v3 (He et al. 2021) as encoders alone, with one of their heads: BERT whose scores have terms by
// relative position, of vectors that all layers share. Version 2 may have a convolution beside its first layer.
#include <nlohmann/json.hpp>
#include <sstream>

#include "formats/quote.hpp"
#include "model/families/bert_group.hpp"
#include "model/families/text_heads.hpp"
#include "model/relative.hpp"

namespace lapilli::model {

extern const Family family_deberta_v2;

namespace {

constexpr TextHeads kDebertaHeads = {"DebertaV2", "", "pooler.dense", "classifier", Activation::gelu_erf};

// The kinds of terms: a list, or names with bars between them.
Result<std::vector<std::string>> deberta_terms(const JsonView& v) {
  std::vector<std::string> terms;
  const auto it = v.json.find("pos_att_type");
  if (it == v.json.end() || it->is_null()) return terms;
  if (it->is_string()) {
    std::stringstream text(it->get<std::string>());
    for (std::string term; std::getline(text, term, '|');)
      if (term.find_first_not_of(' ') != std::string::npos) terms.push_back(term);
    return terms;
  }
  if (!it->is_array()) return fail(ErrorCode::invalid_data, "%s: pos_att_type is no list, and no text", v.where);
  for (const auto& entry : *it) {
    const nlohmann::json one = {{"pos_att_type", entry}};
    LAPILLI_TRY(terms.emplace_back(), get_string({one, v.where}, "pos_att_type"));
  }
  return terms;
}

Status add_deberta_term(const JsonView& v, const std::string& text, DistanceVectors& vectors) {
  const auto begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  std::string name = begin == std::string::npos ? "" : text.substr(begin, end + 1 - begin);
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;  // as the reference
  if (name == "c2p")
    vectors.by_query = true;
  else if (name == "p2c")
    vectors.by_key = true;
  else
    return fail(ErrorCode::unsupported, "%s: pos_att_type %s is not supported; c2p and p2c are", v.where,
                quote_name(name, 40));
  return {};
}

Status read_deberta_distances(const JsonView& v, StackConfig& s) {
  DistanceVectors& vectors = s.vectors;
  LAPILLI_TRY(vectors.buckets, get_optional_size(v, "position_buckets", kMaxPositionRows));
  LAPILLI_TRY(vectors.distance, get_optional_size(v, "max_relative_positions", kMaxPositionRows));
  if (vectors.distance == 0) {
    LAPILLI_TRY(vectors.distance, get_size(v, "max_position_embeddings", kMaxPositionRows, 512));
  }
  const auto table = vector_table(vectors.buckets, vectors.distance);
  if (table) return {};
  return fail(table.error().code, "%s: position_buckets and max_relative_positions: %s", v.where,
              table.error().message);
}

Status read_deberta_vectors(const JsonView& v, StackConfig& s) {
  DistanceVectors& vectors = s.vectors;
  LAPILLI_TRY(const auto terms, deberta_terms(v));
  for (const std::string& term : terms) LAPILLI_CHECK(add_deberta_term(v, term, vectors));
  s.score_parts = 1u + (vectors.by_query ? 1u : 0u) + (vectors.by_key ? 1u : 0u);
  LAPILLI_TRY(const bool relative, get_bool(v, "relative_attention", false));
  if (!relative || s.score_parts == 1) {
    vectors = {};
    return {};
  }
  vectors.table = DistanceVectors::Table::stored;
  LAPILLI_TRY(vectors.shared, get_bool(v, "share_att_key", false));
  LAPILLI_TRY(const auto norm, get_string(v, "norm_rel_ebd", "none"));
  if (norm != "none" && norm != "layer_norm")
    return fail(ErrorCode::unsupported, "%s: norm_rel_ebd %s is not supported; none and layer_norm are", v.where,
                quote_name(norm, 40));
  vectors.normalized = norm == "layer_norm";
  return read_deberta_distances(v, s);
}

Status read_deberta_convolution(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(s.convolution, get_optional_size(v, "conv_kernel_size", 255));
  if (s.convolution == 0) return {};
  if (s.convolution % 2 == 0)
    return fail(ErrorCode::unsupported, "%s: conv_kernel_size %u is even; odd ones are supported", v.where,
                s.convolution);
  LAPILLI_TRY(const auto groups, get_u32(v, "conv_groups", 1));
  if (groups != 1) return fail(ErrorCode::unsupported, "%s: conv_groups %u is not supported; 1 is", v.where, groups);
  StackConfig layer;
  LAPILLI_CHECK(read_activation(v, "conv_act", "tanh", layer));
  s.convolution_activation = layer.activation;
  return {};
}

// Rows of positions, types and a layer to the network's width, as far as there are any.
Status read_deberta_embeddings(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(const bool biased, get_bool(v, "position_biased_input", true));
  if (!biased) s.positions = Positions::none;
  LAPILLI_TRY(s.row_types, get_u32(v, "type_vocab_size", 0));
  if (s.row_types > kMaxTokenTypes)
    return fail(ErrorCode::invalid_data, "%s: type_vocab_size %u is above %u", v.where, s.row_types, kMaxTokenTypes);
  LAPILLI_TRY(const auto width, get_size(v, "embedding_size", kMaxModelWidth, s.d_model));
  s.embedding_width = width == s.d_model ? 0 : width;
  s.embedding_norm_last = true;
  s.embedding_projection_bias = false;
  return {};
}

Status read_deberta_stack(const JsonView& v, StackConfig& s) {
  LAPILLI_CHECK(read_bert_stack(v, "encoder", {1536, 24, 24, 6144}, s));
  LAPILLI_TRY(s.norm_epsilon, get_epsilon(v, "layer_norm_eps", 1e-7f));
  LAPILLI_CHECK(read_deberta_embeddings(v, s));
  LAPILLI_CHECK(read_deberta_vectors(v, s));
  return read_deberta_convolution(v, s);
}

Status read_deberta_head(const JsonView& v, Config& c) {
  LAPILLI_CHECK(read_text_head(v, kDebertaHeads, c));
  HeadConfig& head = c.heads.front();
  StackConfig layer;
  LAPILLI_CHECK(read_activation(v, "pooler_hidden_act", "gelu", layer));
  if (head.pooled == 0) return {};
  head.activation = layer.activation;
  LAPILLI_TRY(head.pooled, get_size(v, "pooler_hidden_size", kMaxModelWidth, c.encoder.d_model));
  if (head.pooled == c.encoder.d_model) return {};
  return fail(ErrorCode::unsupported, "%s: pooler_hidden_size %u is not the network's width, %u", v.where, head.pooled,
              c.encoder.d_model);
}

Result<Config> read_deberta_v2(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_CHECK(check_encoder_alone(v));
  Config c;
  c.family = c.tokenizer = c.encoder.type = "deberta-v2";
  LAPILLI_CHECK(read_deberta_stack(v, c.encoder));
  LAPILLI_CHECK(read_source_vocabulary(v, 128100, c));
  LAPILLI_CHECK(read_deberta_head(v, c));
  return c;
}

StackNames deberta_stack(const std::string& base) {
  StackNames n = bert_side_names(base, false);
  const std::string layer = base + "encoder.layer.{}.attention.", self = layer + "self.";
  n.layer.self = {self + "query_proj",    self + "key_proj",          self + "value_proj",
                  layer + "output.dense", layer + "output.LayerNorm", ""};
  n.layer.self.vector_q = self + "pos_query_proj";
  n.layer.self.vector_k = self + "pos_key_proj";
  n.embedding_projection = base + "embeddings.embed_proj";
  n.vectors = base + "encoder.rel_embeddings.weight";
  n.vectors_norm = base + "encoder.LayerNorm";
  n.convolution = base + "encoder.conv.conv";
  n.convolution_norm = base + "encoder.conv.LayerNorm";
  return n;
}

// Files have the head of version 2 or that of version 3, whatever config.json says.
Names deberta_names(const Config& c) {
  const std::string older = "cls.predictions.transform.", newer = "lm_predictions.lm_head.";
  Names n;
  n.base_prefix = "deberta.";
  n.encoder = deberta_stack(n.base_prefix);
  name_id_scores("", true, n);
  n.logits_bias.push_back(newer + "bias");
  n.other_prefixes.emplace_back(older, newer);
  if (c.tied_output) tie_encoder_output(n);
  n.heads = {text_head_names(c, kDebertaHeads)};
  return n;
}

}  // namespace

const Family family_deberta_v2 = {"deberta-v2", "DeBERTa v2 and v3, encoders of text", read_deberta_v2, deberta_names};

}  // namespace lapilli::model
