// ModernBERT (Warner et al. 2024) as an encoder alone, with one of its heads: pre-norm layers with rotary positions and
// gated feed-forward layers, which see all keys or those near the query.
#include <nlohmann/json.hpp>

#include "formats/quote.hpp"
#include "model/families/bert_group.hpp"
#include "model/families/text_heads.hpp"

namespace lapilli::model {

extern const Family family_modernbert;

namespace {

constexpr TextHeads kModernBertHeads = {"ModernBert", "", "head.dense"};

// The names of the layers' kinds: given, or one in so many sees all keys.
Result<std::vector<std::string>> layer_types(const JsonView& v, uint32_t layers) {
  LAPILLI_TRY(const auto every, get_size(v, "global_attn_every_n_layers", kMaxModelLayers, 3));
  std::vector<std::string> types;
  for (uint32_t i = 0; i < layers; ++i) types.emplace_back(i % every == 0 ? "full_attention" : "sliding_attention");
  const auto it = v.json.find("layer_types");
  if (it == v.json.end() || it->is_null()) return types;
  if (!it->is_array() || it->size() != layers)
    return fail(ErrorCode::invalid_data, "%s: layer_types is no list of %u entries, one for each layer", v.where,
                layers);
  for (uint32_t i = 0; i < layers; ++i) {
    const nlohmann::json entry = {{"layer_types", (*it)[i]}};
    LAPILLI_TRY(types[i], get_string({entry, v.where}, "layer_types"));
  }
  return types;
}

Status read_windows(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(const auto width, get_size(v, "local_attention", kMaxPositionRows, 128));
  LAPILLI_TRY(const auto types, layer_types(v, s.layers));
  for (const std::string& type : types) {
    if (type != "full_attention" && type != "sliding_attention")
      return fail(ErrorCode::unsupported, "%s: layer_types has %s; full_attention and sliding_attention are known",
                  v.where, quote_name(type, 40));
    s.windows.push_back(type == "full_attention" ? kNoWindow : width / 2);
  }
  return {};
}

// The base of one kind of layers in the newer form: {"full_attention": {"rope_theta": 160000.0, ...}}.
Result<double> read_rotary_base(const JsonView& parameters, const char* type, float missing) {
  if (!has(parameters, type)) return double{missing};
  LAPILLI_TRY(const auto v, get_object(parameters, type));
  LAPILLI_TRY(const auto form, get_string(v, "rope_type", "default"));
  if (form != "default")
    return fail(ErrorCode::unsupported, "%s: rope_type %s is not supported", v.where, quote_name(form, 40));
  LAPILLI_TRY(const float base, get_float(v, "rope_theta", missing));
  if (base > 0) return double{base};
  return fail(ErrorCode::invalid_data, "%s: rope_theta %g is not above 0", v.where, base);
}

// The older form has a key for each kind; without that of windows, they have the other's.
Status read_rotations(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(const float global, get_float(v, "global_rope_theta", 160000.0f));
  const bool same = v.json.contains("local_rope_theta") && v.json["local_rope_theta"].is_null();
  LAPILLI_TRY(const float local, get_float(v, "local_rope_theta", same ? global : 10000.0f));
  if (!(global > 0) || !(local > 0))
    return fail(ErrorCode::invalid_data, "%s: rope thetas %g and %g are not above 0", v.where, global, local);
  s.rotary = s.head_dim;
  s.rotary_halves = true;
  s.rotary_base = global;
  s.window_rotary_base = local;
  if (!has(v, "rope_parameters")) return {};
  LAPILLI_TRY(const auto parameters, get_object(v, "rope_parameters"));
  LAPILLI_TRY(s.rotary_base, read_rotary_base(parameters, "full_attention", global));
  LAPILLI_TRY(s.window_rotary_base, read_rotary_base(parameters, "sliding_attention", local));
  return {};
}

Status read_biases(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(s.qkv_bias, get_bool(v, "attention_bias", false));
  LAPILLI_TRY(s.ffn_bias, get_bool(v, "mlp_bias", false));
  LAPILLI_TRY(s.norm_bias, get_bool(v, "norm_bias", false));
  s.out_bias = s.qkv_bias;
  return {};
}

Status read_modernbert_sizes(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(s.d_model, get_size(v, "hidden_size", kMaxModelWidth, 768));
  LAPILLI_TRY(s.layers, get_u32(v, "num_hidden_layers", 22));
  LAPILLI_TRY(s.heads, get_u32(v, "num_attention_heads", 12));
  LAPILLI_TRY(s.ffn, get_u32(v, "intermediate_size", 1152));
  LAPILLI_CHECK(read_activation(v, "hidden_activation", "gelu", s));
  LAPILLI_TRY(s.norm_epsilon, get_epsilon(v, "norm_eps", 1e-5f));
  LAPILLI_TRY(s.max_positions, get_size(v, "max_position_embeddings", kMaxPositionRows, 8192));
  LAPILLI_CHECK(check_stack(v, "encoder", s));
  if (s.head_dim % 2 == 0) return {};
  return fail(ErrorCode::invalid_data, "%s: heads of %u columns, an odd number, have no halves", v.where, s.head_dim);
}

Status read_modernbert_stack(const JsonView& v, StackConfig& s) {
  LAPILLI_CHECK(read_modernbert_sizes(v, s));
  LAPILLI_CHECK(read_biases(v, s));
  LAPILLI_CHECK(read_windows(v, s));
  LAPILLI_CHECK(read_rotations(v, s));
  s.gated = s.pre_norm = s.final_norm = s.embedding_norm = true;
  s.first_norm = false;
  return {};
}

Status read_pooling(const JsonView& v, HeadConfig& head) {
  LAPILLI_TRY(const auto pooling, get_string(v, "classifier_pooling", "cls"));
  if (pooling != "cls" && pooling != "mean")
    return fail(ErrorCode::unsupported, "%s: classifier_pooling %s is not supported; cls and mean are", v.where,
                quote_name(pooling, 40));
  head.pooling = pooling == "mean" ? Pooling::mean : Pooling::row;
  return {};
}

// Behind a layer of their own with a norm, whose bias is the config's.
Status read_modernbert_head(const JsonView& v, Config& c) {
  LAPILLI_CHECK(read_text_head(v, kModernBertHeads, c));
  StackConfig layer;
  LAPILLI_CHECK(read_activation(v, "classifier_activation", "gelu", layer));
  LAPILLI_TRY(const bool bias, get_bool(v, "classifier_bias", false));
  c.output_activation = layer.activation;
  c.output_transform_bias = bias;
  HeadConfig& head = c.heads.front();
  if (head.kind == HeadKind::tokens || head.kind == HeadKind::vectors) return {};
  head.pooled = c.encoder.d_model;
  head.pooled_bias = bias;
  head.pooled_norm = true;
  head.activation = layer.activation;
  return read_pooling(v, head);
}

Result<Config> read_modernbert(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_CHECK(check_encoder_alone(v));
  Config c;
  c.family = c.tokenizer = c.encoder.type = "modernbert";
  LAPILLI_CHECK(read_modernbert_stack(v, c.encoder));
  LAPILLI_CHECK(read_source_vocabulary(v, 50368, c));
  LAPILLI_CHECK(read_modernbert_head(v, c));
  return c;
}

StackNames modernbert_stack(const std::string& base) {
  const std::string layer = base + "layers.{}.", qkv = layer + "attn.Wqkv";
  StackNames n;
  n.embedding = {base + "embeddings.tok_embeddings.weight"};
  n.embedding_norm = base + "embeddings.norm";
  n.final_norm = base + "final_norm";
  n.layer.self = {qkv, qkv, qkv, layer + "attn.Wo", layer + "attn_norm", ""};
  n.layer.fc1 = n.layer.gate = layer + "mlp.Wi";
  n.layer.gate_last = true;
  n.layer.fc2 = layer + "mlp.Wo";
  n.layer.norm = layer + "mlp_norm";
  return n;
}

Names modernbert_names(const Config& c) {
  Names n;
  n.base_prefix = "model.";
  n.encoder = modernbert_stack(n.base_prefix);
  n.output = {"decoder.weight"};
  n.logits_bias = {"decoder.bias"};
  n.output_transform = "head.dense";
  n.output_norm = "head.norm";
  if (c.tied_output) tie_encoder_output(n);
  n.heads = {{"head.dense", "classifier", "", "head.norm"}};
  return n;
}

}  // namespace

const Family family_modernbert = {"modernbert", "ModernBERT, an encoder of text", read_modernbert, modernbert_names};

}  // namespace lapilli::model
