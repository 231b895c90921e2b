// ProphetNet (Qi et al. 2020): a decoder with predicting streams beside the main one, relative positions with a bias
// from the hidden state, learned positions after the padding id's, post-norm, normalized embeddings, a single word
// table.
#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

extern const Family family_prophetnet;

namespace {

constexpr uint32_t kMaxStreams = 16, kMaxBuckets = 1024, kMaxDistance = 1u << 16;

Status read_prophetnet_stack(const JsonView& v, const std::string& side, StackConfig& s) {
  LAPILLI_TRY(s.d_model, get_size(v, "hidden_size", kMaxModelWidth, 1024));
  LAPILLI_TRY(s.layers, get_u32(v, ("num_" + side + "_layers").c_str(), 12));
  LAPILLI_TRY(s.heads, get_u32(v, ("num_" + side + "_attention_heads").c_str(), 16));
  LAPILLI_TRY(s.ffn, get_u32(v, (side + "_ffn_dim").c_str(), 4096));
  LAPILLI_CHECK(read_activation(v, "activation_function", "gelu", s));
  s.embedding_norm = true;
  // Tokens use the rows after the padding id's; a predicting stream uses the next row.
  LAPILLI_TRY(const auto rows, get_size(v, "max_position_embeddings", kMaxPositionRows, 512));
  LAPILLI_TRY(const auto pad, get_id(v, "pad_token_id", 0));
  if (static_cast<uint64_t>(pad) + 2 >= rows)
    return fail(ErrorCode::invalid_data, "%s: pad_token_id %d leaves none of %u positions", v.where, pad, rows);
  s.positions = Positions::learned;
  s.position_offset = static_cast<uint32_t>(pad) + 1;
  s.max_positions = rows - s.position_offset - (side == "decoder" ? 1 : 0);
  return check_stack(v, side.c_str(), s);
}

Result<Config> read_prophetnet(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  Config c;
  c.family = c.tokenizer = "prophetnet";
  LAPILLI_CHECK(check_flag(v, "add_cross_attention", true));
  LAPILLI_CHECK(read_prophetnet_stack(v, "encoder", c.encoder));
  LAPILLI_CHECK(read_prophetnet_stack(v, "decoder", c.decoder));
  LAPILLI_TRY(c.source_vocabulary, get_size(v, "vocab_size", kMaxVocabulary, 30522));
  c.target_vocabulary = c.source_vocabulary;
  LAPILLI_TRY(c.decoder.streams, get_size(v, "ngram", kMaxStreams, 2));
  LAPILLI_TRY(c.decoder.relative_buckets, get_size(v, "num_buckets", kMaxBuckets, 32));
  LAPILLI_TRY(c.decoder.relative_distance, get_size(v, "relative_max_distance", kMaxDistance, 128));
  LAPILLI_TRY(c.tied_output, get_bool(v, "tie_word_embeddings", true));
  return c;
}

AttentionNames prophetnet_attention(const std::string& prefix) {
  return {prefix + ".query_proj", prefix + ".key_proj",   prefix + ".value_proj",
          prefix + ".out_proj",   prefix + "_layer_norm", prefix + ".relative_pos_embeddings"};
}

StackNames prophetnet_stack(const std::string& side, bool cross) {
  const std::string prefix = "prophetnet." + side + ".", layer = prefix + "layers.{}.";
  StackNames n;
  n.embedding = {prefix + "word_embeddings.weight", "prophetnet.word_embeddings.weight"};
  n.positions = {prefix + "position_embeddings.weight"};
  n.embedding_norm = prefix + "embeddings_layer_norm";
  n.streams = {prefix + "ngram_embeddings.weight"};
  n.layer.self = prophetnet_attention(layer + "self_attn");
  if (cross) n.layer.cross = prophetnet_attention(layer + "cross_attn");
  n.layer.fc1 = layer + "feed_forward.intermediate";
  n.layer.fc2 = layer + "feed_forward.output";
  n.layer.norm = layer + "feed_forward_layer_norm";
  return n;
}

Names prophetnet_names(const Config& c) {
  Names n;
  n.base_prefix = "prophetnet.";
  n.encoder = prophetnet_stack("encoder", false);
  n.decoder = prophetnet_stack("decoder", true);
  // Encoder and decoder always share their words; any name of the group may be the one stored.
  const std::string encoder = n.encoder.embedding[0], decoder = n.decoder.embedding[0];
  n.output = {"lm_head.weight"};
  n.encoder.embedding.push_back(decoder);
  n.decoder.embedding.push_back(encoder);
  if (c.tied_output) {
    n.output.insert(n.output.end(), n.decoder.embedding.begin(), n.decoder.embedding.end());
    for (StackNames* side : {&n.encoder, &n.decoder}) side->embedding.push_back(n.output[0]);
  }
  return n;
}

}  // namespace

const Family family_prophetnet = {"prophetnet", "ProphetNet models (summaries, questions)", read_prophetnet,
                                  prophetnet_names};

}  // namespace lapilli::model
