// Transformer-XL (Dai et al. 2019): recurrence between segments, terms of scores by distance, an adaptive softmax.
// Layers are post-norm, or pre-norm without a norm at the end.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

extern const Family family_transfo_xl;

namespace {

Status read_transfo_sizes(const JsonView& v, Config& c) {
  StackConfig& s = c.decoder;
  LAPILLI_TRY(s.d_model, get_size(v, "d_model", kMaxModelWidth, 1024));
  LAPILLI_TRY(s.layers, get_u32(v, "n_layer", 18));
  LAPILLI_TRY(s.heads, get_u32(v, "n_head", 16));
  LAPILLI_TRY(s.head_dim, get_size(v, "d_head", kMaxModelWidth, 64));
  LAPILLI_TRY(s.ffn, get_u32(v, "d_inner", 4096));
  LAPILLI_TRY(c.target_vocabulary, get_size(v, "vocab_size", kMaxVocabulary, 267735));
  LAPILLI_TRY(s.norm_epsilon, get_epsilon(v, "layer_norm_epsilon", 1e-5f));
  LAPILLI_TRY(s.pre_norm, get_bool(v, "pre_lnorm", false));
  s.qkv_bias = s.out_bias = false;
  LAPILLI_CHECK(check_stack(v, "decoder", s));
  if (s.d_model % 2 == 0) return {};
  return fail(ErrorCode::invalid_data, "%s: d_model %u, an odd number, has no halves", v.where, s.d_model);
}

// Each row sees mem_len rows, or what its segment has and mem_len rows before that. The distances of both have a table
// of a fixed size.
Status read_transfo_memory(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(s.memory, get_size(v, "mem_len", kBiasWords - 1, 1600));
  LAPILLI_TRY(const uint32_t clamped, get_optional_size(v, "clamp_len", kMaxPositionRows));
  LAPILLI_TRY(s.same_length, get_bool(v, "same_length", true));
  s.recurrent = true;
  s.distances = s.same_length ? s.memory : kBiasWords;
  if (s.same_length)
    s.windows.assign(s.layers, s.memory - 1);
  else
    s.max_positions = kBiasWords - s.memory;
  if (clamped == 0) return {};
  if (s.same_length) s.distances = std::min(s.distances, clamped + 1);
  s.vectors.distance = clamped;
  return {};
}

Status check_transfo_kind(const JsonView& v) {
  LAPILLI_CHECK(check_writes(v));
  LAPILLI_TRY(const uint32_t kind, get_u32(v, "attn_type", 0));
  if (kind != 0)
    return fail(ErrorCode::unsupported, "%s: attn_type %u is not supported; 0, that of Transformer-XL, is", v.where,
                kind);
  return check_flag(v, "adaptive", true);
}

// Where the clusters end.
Result<std::vector<uint32_t>> read_cutoffs(const JsonView& v, uint32_t vocabulary) {
  std::vector<uint32_t> ends;
  const auto it = v.json.find("cutoffs");
  const nlohmann::json published = {20000u, 40000u, 200000u}, &list = it == v.json.end() ? published : *it;
  if (!list.is_array() || list.size() > 64)
    return fail(ErrorCode::invalid_data, "%s: cutoffs is no list of up to 64 numbers", v.where);
  for (const auto& end : list) {
    if (!end.is_number_unsigned() || end.get<uint64_t>() >= vocabulary ||
        end.get<uint64_t>() <= (ends.empty() ? 0 : ends.back()))
      return fail(ErrorCode::invalid_data, "%s: cutoffs do not ascend below vocab_size %u", v.where, vocabulary);
    ends.push_back(end.get<uint32_t>());
  }
  ends.push_back(vocabulary);
  return ends;
}

// The first projection of the output is a tensor of its own, as published; others are tied with those of the table.
Result<std::vector<bool>> read_tied_projections(const JsonView& v, size_t clusters) {
  LAPILLI_TRY(const bool shared, get_bool(v, "proj_share_all_but_first", true));
  std::vector<bool> tied(clusters, shared);
  tied[0] = false;
  const auto it = v.json.find("tie_projs");
  if (it == v.json.end() || it->is_null()) return tied;
  if (!it->is_array() || it->size() < clusters ||
      !std::all_of(it->begin(), it->end(), [](const auto& e) { return e.is_boolean(); }))
    return fail(ErrorCode::invalid_data, "%s: tie_projs is no list of true or false for each of %zu clusters", v.where,
                clusters);
  for (size_t i = 0; i < clusters; ++i) tied[i] = (*it)[i].template get<bool>();
  return tied;
}

Status read_clusters(const JsonView& v, Config& c) {
  LAPILLI_TRY(const uint32_t width, get_size(v, "d_embed", kMaxModelWidth, 1024));
  LAPILLI_TRY(const uint32_t divisor, get_size(v, "div_val", kMaxModelWidth, 4));
  LAPILLI_TRY(const auto ends, read_cutoffs(v, c.target_vocabulary));
  LAPILLI_TRY(const auto tied, read_tied_projections(v, ends.size()));
  uint32_t first = 0, narrowed = width;
  for (const uint32_t end : ends) {
    Cluster& cluster = c.clusters.emplace_back();
    cluster.first = first;
    cluster.ids = end - first;
    cluster.width = narrowed;
    if (narrowed == 0)
      return fail(ErrorCode::invalid_data, "%s: d_embed %u divided by div_val %u for each of %u clusters", v.where,
                  width, divisor, ends.size());
    cluster.projected = divisor > 1 || width != c.decoder.d_model;
    cluster.tied_projection = tied[c.clusters.size() - 1];
    cluster.stored_first = divisor > 1 ? 0 : first;
    cluster.stored_rows = divisor > 1 ? cluster.ids : c.target_vocabulary;
    first = end;
    narrowed /= divisor;
  }
  return {};
}

Result<Config> read_transfo_xl(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  Config c;
  c.family = c.tokenizer = c.decoder.type = "transfo-xl";
  LAPILLI_CHECK(check_transfo_kind(v));
  LAPILLI_CHECK(read_transfo_sizes(v, c));
  LAPILLI_CHECK(read_transfo_memory(v, c.decoder));
  LAPILLI_CHECK(read_clusters(v, c));
  LAPILLI_TRY(c.tied_output, get_bool(v, "tie_word_embeddings", true));
  c.decoder.embedding_scale = std::sqrt(static_cast<float>(c.decoder.d_model));
  c.decoder.activation = Activation::relu;
  c.decoder.activation_name = "relu";
  return c;
}

AttentionNames transfo_attention(const std::string& base) {
  const std::string self = base + "layers.{}.dec_attn.", qkv = self + "qkv_net";
  AttentionNames n{qkv, qkv, qkv, self + "o_net", self + "layer_norm", ""};
  n.vector_k = self + "r_net";
  n.content_bias = self + "r_w_bias";
  n.position_bias = self + "r_r_bias";
  n.shared_content_bias = base + "r_w_bias";
  n.shared_position_bias = base + "r_r_bias";
  return n;
}

// A file has both of two tied tensors, or one. What is not tied must be there by its own name.
ClusterNames transfo_cluster(const Config& c, size_t i, const std::string& base) {
  const Cluster& cluster = c.clusters[i];
  const std::string number = std::to_string(i), table = cluster.stored_rows == c.target_vocabulary ? "0" : number;
  const std::string in = base + "word_emb.emb_", out = "crit.out_";
  ClusterNames n;
  n.embedding = {in + "layers." + table + ".weight"};
  n.output = {out + "layers." + table + ".weight"};
  if (c.tied_output) {
    n.embedding.push_back(n.output[0]);
    n.output.push_back(n.embedding[0]);
  }
  n.output_bias = {out + "layers." + table + ".bias"};
  n.embedding_projection = {in + "projs." + table};
  n.output_projection = {out + "projs." + number};
  if (cluster.tied_projection) {
    n.embedding_projection.push_back(n.output_projection[0]);
    n.output_projection.push_back(n.embedding_projection[0]);
  }
  return n;
}

Names transfo_xl_names(const Config& c) {
  Names n;
  n.base_prefix = "transformer.";
  const std::string layer = n.base_prefix + "layers.{}.", ff = layer + "pos_ff.";
  n.decoder.layer.self = transfo_attention(n.base_prefix);
  n.decoder.layer.fc1 = ff + "CoreNet.0";
  n.decoder.layer.fc2 = ff + "CoreNet.3";
  n.decoder.layer.norm = ff + "layer_norm";
  for (size_t i = 0; i < c.clusters.size(); ++i) n.clusters.push_back(transfo_cluster(c, i, n.base_prefix));
  n.cluster_entries = "crit.cluster_weight";
  n.cluster_entries_bias = "crit.cluster_bias";
  n.heads.resize(1);
  return n;
}

}  // namespace

const Family family_transfo_xl = {"transfo-xl", "Transformer-XL", read_transfo_xl, transfo_xl_names};

}  // namespace lapilli::model
