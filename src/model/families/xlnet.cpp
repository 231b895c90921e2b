// XLNet (Yang et al. 2019) as an encoder alone, with one of its heads: post-norm layers whose scores have a term by
// relative position, of sinusoids, and one by segment. No positions or types are part of its embeddings.
#include <nlohmann/json.hpp>

#include "formats/quote.hpp"
#include "model/families/bert_group.hpp"
#include "model/families/text_heads.hpp"

namespace lapilli::model {

extern const Family family_xlnet;

namespace {

constexpr TextHeads kXlnetHeads = {"XLNet", "", "sequence_summary.summary", "logits_proj"};
// Distances must fit the table of their rows.
constexpr uint32_t kXlnetPositions = kBiasWords / 2;
// Those of two texts, of <cls>, and of padding.
constexpr uint32_t kXlnetTypes = 4;

Status check_xlnet_attention(const JsonView& v) {
  LAPILLI_TRY(const auto type, get_string(v, "attn_type", "bi"));
  if (type != "bi")
    return fail(ErrorCode::unsupported, "%s: attn_type %s is not supported; bi is", v.where, quote_name(type, 40));
  return check_flag(v, "bi_data", false);
}

Status read_xlnet_sizes(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(s.d_model, get_size(v, "d_model", kMaxModelWidth, 1024));
  LAPILLI_TRY(s.layers, get_u32(v, "n_layer", 24));
  LAPILLI_TRY(s.heads, get_u32(v, "n_head", 16));
  LAPILLI_TRY(s.ffn, get_u32(v, "d_inner", 4096));
  LAPILLI_CHECK(read_activation(v, "ff_activation", "gelu", s));
  LAPILLI_TRY(s.norm_epsilon, get_epsilon(v, "layer_norm_eps", 1e-12f));
  LAPILLI_CHECK(check_stack(v, "encoder", s));
  LAPILLI_TRY(const auto head, get_size(v, "d_head", kMaxModelWidth, s.head_dim));
  if (head != s.head_dim)
    return fail(ErrorCode::invalid_data, "%s: d_head %u, but %u heads of a width of %u have %u columns", v.where, head,
                s.heads, s.d_model, s.head_dim);
  if (s.d_model % 2 == 0) return {};
  return fail(ErrorCode::invalid_data, "%s: d_model %u, an odd number, has no halves", v.where, s.d_model);
}

Status read_xlnet_stack(const JsonView& v, StackConfig& s) {
  LAPILLI_CHECK(read_xlnet_sizes(v, s));
  LAPILLI_CHECK(check_xlnet_attention(v));
  s.max_positions = kXlnetPositions;
  s.vectors.table = DistanceVectors::Table::sinusoids;
  s.vectors.by_query = s.segments = true;
  s.row_types = kXlnetTypes;
  LAPILLI_TRY(s.vectors.distance, get_optional_size(v, "clamp_len", kMaxPositionRows));
  LAPILLI_TRY(s.memory, get_optional_size(v, "mem_len", kMaxPositionRows));
  LAPILLI_TRY(s.reused, get_optional_size(v, "reuse_len", kMaxPositionRows));
  if (s.memory == 0) s.memory = kAllRows;
  return {};
}

Status read_xlnet_summary(const JsonView& v, HeadConfig& head) {
  struct {
    const char* name;
    Pooling pooling;
  } constexpr kTypes[] = {
      {"last", Pooling::last}, {"first", Pooling::row}, {"mean", Pooling::mean}, {"cls_index", Pooling::last}};
  LAPILLI_TRY(const auto type, get_string(v, "summary_type", "last"));
  for (const auto& known : kTypes) {
    head.pooling = known.pooling;
    if (type == known.name) return check_flag(v, "summary_proj_to_labels", false);
  }
  return fail(ErrorCode::unsupported, "%s: summary_type %s is not supported; last, first, mean and cls_index are",
              v.where, quote_name(type, 40));
}

// Scores of ids, by the embeddings.
Status read_xlnet_scores(const JsonView& v, Config& c) {
  LAPILLI_TRY(c.tied_output, get_bool(v, "tie_word_embeddings", true));
  c.logits_bias = true;
  return {};
}

// Classes of whole sources have a summary before them.
Status read_xlnet_head(const JsonView& v, Config& c) {
  if (architecture(v) == "XLNetLMHeadModel") return read_xlnet_scores(v, c);
  LAPILLI_CHECK(read_text_head(v, kXlnetHeads, c));
  HeadConfig& head = c.heads.front();
  if (head.every_row || head.kind == HeadKind::vectors) return {};
  LAPILLI_TRY(const bool projects, get_bool(v, "summary_use_proj", true));
  if (!projects) head.pooled = 0;
  StackConfig layer;
  const bool none = v.json.contains("summary_activation") && v.json["summary_activation"].is_null();
  if (!none) LAPILLI_CHECK(read_activation(v, "summary_activation", "tanh", layer));
  head.activation = none ? Activation::none : layer.activation;
  if (!projects && !none && head.activation != Activation::none)
    return fail(ErrorCode::unsupported, "%s: summary_activation without summary_use_proj is not supported", v.where);
  return read_xlnet_summary(v, head);
}

Result<Config> read_xlnet(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_CHECK(check_own_code(v));
  Config c;
  c.family = c.tokenizer = c.encoder.type = "xlnet";
  LAPILLI_CHECK(read_xlnet_stack(v, c.encoder));
  LAPILLI_CHECK(read_source_vocabulary(v, 32000, c));
  LAPILLI_CHECK(read_xlnet_head(v, c));
  return c;
}

AttentionNames xlnet_attention(const std::string& attention) {
  AttentionNames n{attention + "q", attention + "k", attention + "v", attention + "o", attention + "layer_norm", ""};
  n.vector_k = attention + "r";
  n.content_bias = attention + "r_w_bias";
  n.position_bias = attention + "r_r_bias";
  n.segment_bias = attention + "r_s_bias";
  n.segments = attention + "seg_embed";
  return n;
}

Names xlnet_names(const Config& c) {
  Names n;
  n.base_prefix = "transformer.";
  n.encoder.embedding = {n.base_prefix + "word_embedding.weight"};
  n.encoder.second_stream = n.base_prefix + "mask_emb";
  const std::string layer = n.base_prefix + "layer.{}.", ff = layer + "ff.";
  n.encoder.layer.self = xlnet_attention(layer + "rel_attn.");
  n.encoder.layer.fc1 = ff + "layer_1";
  n.encoder.layer.fc2 = ff + "layer_2";
  n.encoder.layer.norm = ff + "layer_norm";
  n.output = {"lm_loss.weight"};
  n.logits_bias = {"lm_loss.bias"};
  if (c.tied_output) tie_encoder_output(n);
  n.heads = {text_head_names(c, kXlnetHeads)};
  return n;
}

}  // namespace

const Family family_xlnet = {"xlnet", "XLNet, an encoder of text", read_xlnet, xlnet_names};

}  // namespace lapilli::model
