#include <cmath>

#include "formats/doors/ctranslate2/mappings.hpp"

namespace lapilli::doors::ct2 {

namespace {

void map_t5_attention(Mapper& m, const std::string& from, const std::string& layer, bool cross) {
  const std::string to = layer + (cross ? ".EncDecAttention" : ".SelfAttention");
  const std::string keys = from + (cross ? "/linear_1" : "/linear_0");
  const uint64_t of = cross ? 2 : 3;
  m.linear(to + ".q", from + "/linear_0", cross ? Rows{} : Rows{0, 3});
  m.linear(to + ".k", keys, {of - 2, of});
  m.linear(to + ".v", keys, {of - 1, of});
  m.linear(to + ".o", from + (cross ? "/linear_2" : "/linear_1"));
  m.norm(layer + ".layer_norm", from + "/layer_norm");
  if (const double scale = m.setting(from + "/queries_scale", 1); scale != 1)
    m.refuse(format("%s/queries_scale is %g, and T5 has 1", from, scale));
}

void map_t5_feed_forward(Mapper& m, const std::string& from, const std::string& layer) {
  const bool gated = m.has(from + "/linear_0_noact/weight");
  m.linear(layer + (gated ? ".DenseReluDense.wi_0" : ".DenseReluDense.wi"), from + "/linear_0");
  if (gated) m.linear(layer + ".DenseReluDense.wi_1", from + "/linear_0_noact");
  m.linear(layer + ".DenseReluDense.wo", from + "/linear_1");
  m.norm(layer + ".layer_norm", from + "/layer_norm");
}

// Either all layers share the first one's table (T5), or each has its own (UMT5).
bool has_own_tables(const Mapper& m, const std::string& side) {
  const std::string first = side + "/layer_0/self_attention/relative_attention_bias",
                    second = side + "/layer_1/self_attention/relative_attention_bias";
  return m.has(second) && !m.file().same(first, second);
}

void map_t5_stack(Mapper& m, const std::string& side, bool own_tables) {
  for (uint32_t i = 0, layers = m.layers(side); i < layers; ++i) {
    const std::string from = side + "/layer_" + std::to_string(i),
                      block = side + ".block." + std::to_string(i) + ".layer.";
    const std::string bias = from + "/self_attention/relative_attention_bias";
    map_t5_attention(m, from + "/self_attention", block + "0", false);
    if (i == 0 || own_tables) m.numbers(block + "0.SelfAttention.relative_attention_bias.weight", bias);
    const bool cross = m.has(from + "/attention/linear_0/weight");
    if (cross) map_t5_attention(m, from + "/attention", block + "1", true);
    map_t5_feed_forward(m, from + "/ffn", block + (cross ? "2" : "1"));
    if (m.setting(from + "/self_attention/relative_attention_max_distance", 128) !=
        m.setting(side + "/layer_0/self_attention/relative_attention_max_distance", 128))
      m.refuse("its layers have relative positions of different reach");
  }
  m.norm(side + ".final_layer_norm", side + "/layer_norm");
}

void map_t5_embeddings(Mapper& m, nlohmann::json& config) {
  const std::string source =
      m.has("encoder/embeddings_0/weight") ? "encoder/embeddings_0/weight" : "encoder/embeddings/weight";
  const std::string target = "decoder/embeddings/weight", output = "decoder/projection/weight";
  const bool tied = !m.has(output) || m.file().same(output, target);
  m.matrix("shared.weight", target);
  if (!m.file().same(source, target)) m.matrix("encoder.embed_tokens.weight", source);
  if (!tied) m.matrix("lm_head.weight", output);
  const double root = std::sqrt(static_cast<double>(m.size(target, 1))), scale = m.setting("decoder/scale_outputs", 1);
  if (!(std::abs(scale - (tied ? 1 / root : 1)) <= 1e-3))
    m.refuse(format("decoder/scale_outputs is %g, and T5 has %g", scale, tied ? 1 / root : 1));
  config["tie_word_embeddings"] = tied;
  config["vocab_size"] = m.size(target, 0);
}

uint64_t reach_of(Mapper& m, const std::string& attention) {
  const std::string name = attention + "/relative_attention_max_distance";
  const double reach = m.setting(name, 128);
  if (reach >= 0 && reach <= 1e6) return static_cast<uint64_t>(reach);
  return m.refuse(format("%s is %g", name, reach)), 0;
}

void add_t5_sizes(Mapper& m, nlohmann::json& config) {
  const std::string first = "encoder/layer_0/self_attention";
  const uint32_t heads = m.heads("encoder");
  if (heads != m.heads("decoder")) m.refuse("encoder and decoder have different numbers of heads");
  config["d_model"] = m.size("decoder/embeddings/weight", 1);
  config["num_heads"] = heads;
  config["d_kv"] = m.size(first + "/linear_0/weight", 0) / 3 / heads;
  config["d_ff"] = m.size("encoder/layer_0/ffn/linear_0/weight", 0);
  config["num_layers"] = m.layers("encoder");
  config["num_decoder_layers"] = m.layers("decoder");
  config["relative_attention_num_buckets"] = m.size(first + "/relative_attention_bias", 0);
  config["relative_attention_max_distance"] = reach_of(m, first);
  const std::string activation = m.activation("decoder");
  if (activation != m.activation("encoder")) m.refuse("encoder and decoder have different activations");
  const bool gated = m.has("encoder/layer_0/ffn/linear_0_noact/weight");
  config["feed_forward_proj"] = gated && activation == "gelu_new" ? "gated-gelu" : (gated ? "gated-" : "") + activation;
}

}  // namespace

void map_t5(Mapper& m, const Beside& beside, Fields& fields) {
  const bool own = has_own_tables(m, "encoder");
  fields.config["model_type"] = own ? "umt5" : "t5";
  add_t5_sizes(m, fields.config);
  map_t5_embeddings(m, fields.config);
  for (const std::string side : {"encoder", "decoder"}) {
    if (m.setting(side + "/pre_norm", 1) != 1) m.refuse(side + "/pre_norm is off, and T5 has it on");
    if (m.setting(side + "/scale_embeddings", 0) != 0) m.refuse(side + "/scale_embeddings is on, and T5 has it off");
    map_t5_stack(m, side, own);
  }
  add_special_ids(beside, fields.config);
  add_special_ids(beside, fields.generation);
  fields.generation["max_length"] = 256;  // CTranslate2's own default
}

}  // namespace lapilli::doors::ct2
