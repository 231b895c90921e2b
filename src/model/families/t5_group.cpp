#include "model/families/t5_group.hpp"

#include "model/relative.hpp"

namespace lapilli::model {

namespace {

AttentionNames t5_attention(const std::string& sublayer, const char* name) {
  const std::string prefix = sublayer + name;
  return {prefix + ".q", prefix + ".k",           prefix + ".v",
          prefix + ".o", sublayer + "layer_norm", prefix + ".relative_attention_bias.weight"};
}

StackNames t5_stack(const std::string& prefix, bool cross, bool gated) {
  const std::string layer = prefix + "block.{}.layer.";
  const std::string feed_forward = layer + (cross ? "2." : "1.");
  StackNames n;
  n.final_norm = prefix + "final_layer_norm";
  n.layer.self = t5_attention(layer + "0.", "SelfAttention");
  if (cross) n.layer.cross = t5_attention(layer + "1.", "EncDecAttention");
  n.layer.fc1 = feed_forward + (gated ? "DenseReluDense.wi_0" : "DenseReluDense.wi");
  n.layer.gate = feed_forward + "DenseReluDense.wi_1";
  n.layer.fc2 = feed_forward + "DenseReluDense.wo";
  n.layer.norm = feed_forward + "layer_norm";
  return n;
}

// Files of encoders alone may carry a decoder's settings.
void keep_encoder(Config& c) {
  c.decoder.layers = 0;
  HeadConfig& head = c.heads.front();
  head.kind = HeadKind::vectors;
  head.every_row = false;
}

// "ACTIVATION" or "gated-ACTIVATION".
Status read_feed_forward(const JsonView& v, const char* missing, StackConfig& s) {
  LAPILLI_TRY(const std::string text, get_string(v, "feed_forward_proj", missing));
  s.gated = text.starts_with("gated-");
  s.activation_name = s.gated ? text.substr(6) : text;
  // Published files say "gelu" for its tanh form.
  if (text == "gated-gelu") s.activation_name = "gelu_new";
  const auto known = find_activation(s.activation_name);
  if (!known) return fail(ErrorCode::unsupported, "%s: feed_forward_proj \"%s\" is not known", v.where, text);
  s.activation = *known;
  return {};
}

}  // namespace

Result<Config> t5_config(const JsonView& v, const char* family, const char* feed_forward) {
  Config c;
  c.family = c.tokenizer = family;
  StackConfig s;
  LAPILLI_TRY(s.d_model, get_size(v, "d_model", kMaxModelWidth));
  LAPILLI_TRY(s.head_dim, get_size(v, "d_kv", kMaxModelWidth));
  LAPILLI_TRY(s.heads, get_size(v, "num_heads", kMaxModelWidth));
  LAPILLI_TRY(s.ffn, get_size(v, "d_ff", kMaxFeedForward));
  LAPILLI_TRY(s.layers, get_size(v, "num_layers", kMaxModelLayers));
  LAPILLI_TRY(s.norm_epsilon, get_epsilon(v, "layer_norm_epsilon", 1e-6f));
  // Older files lack the distance.
  LAPILLI_TRY(s.relative_buckets, get_u32(v, "relative_attention_num_buckets", 32));
  LAPILLI_TRY(s.relative_distance, get_u32(v, "relative_attention_max_distance", 128));
  for (const bool bidirectional : {true, false})
    if (const auto table = relative_table(s.relative_buckets, s.relative_distance, bidirectional); !table)
      return fail(table.error().code, "%s: %s", v.where, table.error().message);
  LAPILLI_CHECK(read_feed_forward(v, feed_forward, s));
  s.norm = Norm::rms;
  s.pre_norm = s.final_norm = true;
  s.linear_bias = false;
  s.scaled_attention = false;
  c.encoder = c.decoder = s;
  LAPILLI_TRY(c.decoder.layers, get_size(v, "num_decoder_layers", kMaxModelLayers, s.layers));
  LAPILLI_CHECK(check_stack(v, "encoder", c.encoder));
  LAPILLI_CHECK(check_stack(v, "decoder", c.decoder));
  LAPILLI_TRY(c.source_vocabulary, get_size(v, "vocab_size", kMaxVocabulary));
  c.target_vocabulary = c.source_vocabulary;
  LAPILLI_TRY(c.tied_output, get_bool(v, "tie_word_embeddings", true));
  if (architecture(v).ends_with("EncoderModel")) keep_encoder(c);
  return c;
}

Names t5_names(const Config& c) {
  Names n;
  n.encoder = t5_stack("encoder.", false, c.encoder.gated);
  n.decoder = t5_stack("decoder.", true, c.decoder.gated);
  const std::string shared = "shared.weight", encoder = "encoder.embed_tokens.weight",
                    decoder = "decoder.embed_tokens.weight", head = "lm_head.weight";
  n.encoder.embedding = {encoder, shared, decoder};
  n.decoder.embedding = {decoder, shared, encoder};
  n.heads.resize(1);
  // A stored head is used whatever config.json says of ties: version 5 of the reference writes "tied" for all.
  n.output = {head};
  if (c.tied_output) {
    n.output.insert(n.output.end(), {shared, decoder, encoder});
    n.encoder.embedding.push_back(head);
    n.decoder.embedding.push_back(head);
  }
  return n;
}

}  // namespace lapilli::model
