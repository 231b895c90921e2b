// DistilBERT (Sanh et al. 2019) as an encoder alone, with one of its heads: BERT without token types and pooler.
#include <nlohmann/json.hpp>

#include "model/families/bert_group.hpp"
#include "model/families/text_heads.hpp"

namespace lapilli::model {

extern const Family family_distilbert;

namespace {

constexpr TextHeads kDistilBertHeads = {"DistilBert", "", "pre_classifier", "classifier", Activation::relu};

Status read_distilbert_stack(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(s.d_model, get_size(v, "dim", kMaxModelWidth, 768));
  LAPILLI_TRY(s.layers, get_u32(v, "n_layers", 6));
  LAPILLI_TRY(s.heads, get_u32(v, "n_heads", 12));
  LAPILLI_TRY(s.ffn, get_u32(v, "hidden_dim", 3072));
  LAPILLI_CHECK(read_activation(v, "activation", "gelu", s));
  LAPILLI_TRY(s.max_positions, get_size(v, "max_position_embeddings", kMaxPositionRows, 512));
  s.norm_epsilon = 1e-12f;
  s.embedding_norm = true;
  s.positions = Positions::learned;
  return check_stack(v, "encoder", s);
}

Result<Config> read_distilbert(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_CHECK(check_encoder_alone(v));
  Config c;
  c.family = c.tokenizer = c.encoder.type = "distilbert";
  LAPILLI_CHECK(read_distilbert_stack(v, c.encoder));
  LAPILLI_CHECK(read_source_vocabulary(v, 30522, c));
  LAPILLI_CHECK(read_text_head(v, kDistilBertHeads, c));
  return c;
}

StackNames distilbert_stack(const std::string& base) {
  const std::string embeddings = base + "embeddings.", layer = base + "transformer.layer.{}.";
  const std::string attention = layer + "attention.";
  StackNames n;
  n.embedding = {embeddings + "word_embeddings.weight"};
  n.positions = {embeddings + "position_embeddings.weight"};
  n.embedding_norm = embeddings + "LayerNorm";
  n.layer.self = {attention + "q_lin",   attention + "k_lin",     attention + "v_lin",
                  attention + "out_lin", layer + "sa_layer_norm", ""};
  n.layer.fc1 = layer + "ffn.lin1";
  n.layer.fc2 = layer + "ffn.lin2";
  n.layer.norm = layer + "output_layer_norm";
  return n;
}

Names distilbert_names(const Config& c) {
  Names n;
  n.base_prefix = "distilbert.";
  n.encoder = distilbert_stack(n.base_prefix);
  n.output = {"vocab_projector.weight"};
  n.logits_bias = {"vocab_projector.bias"};
  n.output_transform = "vocab_transform";
  n.output_norm = "vocab_layer_norm";
  if (c.tied_output) tie_encoder_output(n);
  n.heads = {text_head_names(c, kDistilBertHeads)};
  return n;
}

}  // namespace

const Family family_distilbert = {"distilbert", "DistilBERT, an encoder of text", read_distilbert, distilbert_names};

}  // namespace lapilli::model
