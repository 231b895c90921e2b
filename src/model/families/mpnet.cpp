// MPNet (Song et al. 2020) as an encoder alone, with a pooler or one of its heads: RoBERTa without token types, with a
// relative bias beside its positions. Padding and buckets are fixed in the reference, whatever config.json says.
#include <nlohmann/json.hpp>

#include "model/families/bert_group.hpp"
#include "model/families/text_heads.hpp"

namespace lapilli::model {

extern const Family family_mpnet;

namespace {

constexpr TextHeads kMPNetHeads = {"MPNet", "mpnet.pooler.dense", "classifier.dense", "classifier.out_proj"};
constexpr uint32_t kMPNetPadding = 1, kMPNetBuckets = 32, kMPNetDistance = 128;

Result<Config> read_mpnet(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_CHECK(check_encoder_alone(v));
  Config c;
  c.family = c.tokenizer = c.encoder.type = "mpnet";
  LAPILLI_CHECK(read_bert_stack(v, "encoder", {}, c.encoder));
  LAPILLI_CHECK(count_positions(v, "encoder", kMPNetPadding, c.encoder));
  c.encoder.relative_buckets = kMPNetBuckets;
  c.encoder.relative_distance = kMPNetDistance;
  LAPILLI_CHECK(read_source_vocabulary(v, 30527, c));
  LAPILLI_CHECK(read_text_head(v, kMPNetHeads, c));
  c.output_activation = Activation::gelu_erf;
  return c;
}

AttentionNames mpnet_attention(const std::string& encoder) {
  const std::string layer = encoder + "layer.{}.attention.", attention = layer + "attn.";
  return {attention + "q", attention + "k",     attention + "v",
          attention + "o", layer + "LayerNorm", encoder + "relative_attention_bias.weight"};
}

Names mpnet_names(const Config& c) {
  Names n;
  n.base_prefix = "mpnet.";
  n.encoder = bert_side_names(n.base_prefix, false);
  n.encoder.layer.self = mpnet_attention(n.base_prefix + "encoder.");
  name_id_scores("", false, n);
  if (c.tied_output) tie_encoder_output(n);
  n.heads = {text_head_names(c, kMPNetHeads)};
  return n;
}

}  // namespace

const Family family_mpnet = {"mpnet", "MPNet, an encoder of text", read_mpnet, mpnet_names};

}  // namespace lapilli::model
