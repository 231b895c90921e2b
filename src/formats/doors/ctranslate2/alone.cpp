// Encoders and decoders alone.
#include "formats/doors/ctranslate2/mappings.hpp"

namespace lapilli::doors::ct2 {

namespace {

using Json = nlohmann::json;

Json epsilon_of(const Beside& beside) {
  const auto given = beside.settings.find("layer_norm_epsilon");
  return given != beside.settings.end() && given->is_number() ? *given : Json(1e-5);  // CTranslate2's own default
}

void map_bert_layer(Mapper& m, const std::string& from, const std::string& to) {
  const std::string self = from + "/self_attention";
  m.linear(to + ".attention.self.query", self + "/linear_0", {0, 3});
  m.linear(to + ".attention.self.key", self + "/linear_0", {1, 3});
  m.linear(to + ".attention.self.value", self + "/linear_0", {2, 3});
  m.linear(to + ".attention.output.dense", self + "/linear_1");
  m.norm(to + ".attention.output.LayerNorm", self + "/layer_norm");
  m.linear(to + ".intermediate.dense", from + "/ffn/linear_0");
  m.linear(to + ".output.dense", from + "/ffn/linear_1");
  m.norm(to + ".output.LayerNorm", from + "/ffn/layer_norm");
}

// Embeddings of tokens, of token types where there are some, and of positions, added up.
void map_bert_embeddings(Mapper& m, Json& config) {
  const std::string tokens = "encoder/embeddings_0/weight", types = "encoder/embeddings_1/weight",
                    positions = "encoder/position_encodings/encodings";
  m.matrix("embeddings.word_embeddings.weight", tokens);
  m.numbers("embeddings.position_embeddings.weight", positions);
  if (m.has(types)) m.numbers("embeddings.token_type_embeddings.weight", types);
  m.norm("embeddings.LayerNorm", "encoder/layernorm_embedding");
  config["vocab_size"] = m.size(tokens, 0);
  config["type_vocab_size"] = m.size(types, 0);
  config["max_position_embeddings"] = m.size(positions, 0);
  config["hidden_size"] = m.size(tokens, 1);
  if (m.has(types) && m.setting("encoder/embeddings_merge", 0) != 1)
    m.refuse("encoder/embeddings_merge is not 1 (added up)");
}

void map_gpt2_layer(Mapper& m, const std::string& from, const std::string& to) {
  const std::pair<const char*, const char*> kLinear[] = {{".attn.c_attn", "/self_attention/linear_0"},
                                                         {".attn.c_proj", "/self_attention/linear_1"},
                                                         {".mlp.c_fc", "/ffn/linear_0"},
                                                         {".mlp.c_proj", "/ffn/linear_1"}};
  for (const auto& [ours, theirs] : kLinear) {
    m.transposed(to + ours + ".weight", from + theirs + "/weight");
    m.numbers(to + ours + ".bias", from + theirs + "/bias");
  }
  m.norm(to + ".ln_1", from + "/self_attention/layer_norm");
  m.norm(to + ".ln_2", from + "/ffn/layer_norm");
}

}  // namespace

void map_encoder(Mapper& m, const Beside& beside, Fields& fields) {
  Json& config = fields.config;
  config["model_type"] = "bert";
  config["architectures"] = {"BertModel"};
  config["hidden_act"] = m.activation("encoder");
  config["num_attention_heads"] = m.heads("encoder");
  config["num_hidden_layers"] = m.layers("encoder");
  config["intermediate_size"] = m.size("encoder/layer_0/ffn/linear_0/weight", 0);
  config["layer_norm_eps"] = epsilon_of(beside);
  map_bert_embeddings(m, config);
  for (uint32_t i = 0, layers = m.layers("encoder"); i < layers; ++i)
    map_bert_layer(m, "encoder/layer_" + std::to_string(i), "encoder.layer." + std::to_string(i));
  if (m.has("pooler_dense/weight")) m.linear("pooler.dense", "pooler_dense");
  if (m.setting("encoder/pre_norm", 1) != 0) m.refuse("encoder/pre_norm is on, and BERT has it off");
  if (m.setting("encoder/scale_embeddings", 1) != 0) m.refuse("encoder/scale_embeddings is on, and BERT has it off");
  if (m.setting("pooler_activation", 5) != 5) m.refuse("pooler_activation is not 5 (tanh)");
  add_special_ids(beside, config);
}

void map_decoder(Mapper& m, const Beside& beside, Fields& fields) {
  Json& config = fields.config;
  config["model_type"] = "gpt2";
  config["architectures"] = {"GPT2LMHeadModel"};
  const std::string table = "decoder/embeddings/weight", output = "decoder/projection/weight",
                    positions = "decoder/position_encodings/encodings";
  const bool tied = !m.has(output) || m.file().same(output, table);
  config["tie_word_embeddings"] = tied;
  config["n_embd"] = m.size(table, 1);
  config["n_head"] = m.heads("decoder");
  config["n_layer"] = m.layers("decoder");
  config["n_inner"] = m.size("decoder/layer_0/ffn/linear_0/weight", 0);
  config["n_positions"] = m.size(positions, 0);
  config["vocab_size"] = m.size(table, 0);
  config["activation_function"] = m.activation("decoder");
  config["layer_norm_epsilon"] = epsilon_of(beside);
  m.matrix("transformer.wte.weight", table);
  if (!tied) m.matrix("lm_head.weight", output);
  m.numbers("transformer.wpe.weight", positions);
  for (uint32_t i = 0, layers = m.layers("decoder"); i < layers; ++i)
    map_gpt2_layer(m, "decoder/layer_" + std::to_string(i), "transformer.h." + std::to_string(i));
  m.norm("transformer.ln_f", "decoder/layer_norm");
  if (m.setting("decoder/pre_norm", 1) != 1) m.refuse("decoder/pre_norm is off, and GPT-2 has it on");
  if (m.setting("decoder/scale_embeddings", 1) != 0) m.refuse("decoder/scale_embeddings is on, and GPT-2 has it off");
  add_special_ids(beside, config);
  add_special_ids(beside, fields.generation);
  fields.generation["max_length"] = config["n_positions"];
}

}  // namespace lapilli::doors::ct2
