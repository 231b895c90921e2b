// Pairs of BERT-like models: both sides' configs, names of tensors with and without prefixes, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "model/families/family.hpp"
#include "model/network.hpp"
#include "model/published.hpp"

namespace lapilli::model {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

TEST(EncoderDecoder, PublishedDirectory) {
  const auto config = parse(published("encoder-decoder-bert"));
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->tokenizer, "bert");
  EXPECT_FLOAT_EQ(config->decoder.norm_epsilon, 1e-12f);
  EXPECT_FALSE(config->memory_projection);
  const auto checkpoint = Checkpoint::open(directory("encoder-decoder-bert"));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  const auto network = bind_weights(*config, find_family("encoder-decoder")->names(*config), *checkpoint);
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_EQ(network->decoder.embedding, network->output);
  EXPECT_NE(network->encoder.embedding, network->output);
}

// Devices may flush a smaller one to 0, and divide by it.
TEST(EncoderDecoder, EpsilonsOfNorms) {
  auto json = published("encoder-decoder-bert");
  for (const auto& [given, used] : {std::pair{0.0, 1e-12f}, {1e-30, 1e-12f}, {1e-5, 1e-5f}, {2.0, 2.0f}}) {
    json["decoder"]["layer_norm_eps"] = given;
    const auto config = parse(json);
    ASSERT_TRUE(config.ok()) << config.error().message;
    EXPECT_FLOAT_EQ(config->decoder.norm_epsilon, used);
  }
  for (const nlohmann::json& bad :
       {nlohmann::json(-1e-12), nlohmann::json(-1), nlohmann::json(1e300), nlohmann::json("x")}) {
    json["decoder"]["layer_norm_eps"] = bad;
    const auto config = parse(json);
    ASSERT_FALSE(config.ok()) << bad;
    EXPECT_THAT(config.error().message, HasSubstr("layer_norm_eps"));
  }
}

TEST(EncoderDecoder, SidesMayDiffer) {
  auto json = published("encoder-decoder-bert");
  json["encoder"]["hidden_size"] = 48;
  json["decoder"]["num_hidden_layers"] = 3;
  const auto config = parse(json);
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->encoder.d_model, 48u);
  EXPECT_EQ(config->encoder.head_dim, 12u);
  EXPECT_EQ(config->decoder.d_model, 32u);
  EXPECT_EQ(config->decoder.layers, 3u);
  EXPECT_TRUE(config->memory_projection);
  EXPECT_EQ(find_family("encoder-decoder")->names(*config).memory_projection, "enc_to_dec_proj");
  // The decoder takes the encoder's width itself.
  json["decoder"]["cross_attention_hidden_size"] = 48;
  const auto direct = parse(json);
  ASSERT_TRUE(direct.ok());
  EXPECT_FALSE(direct->memory_projection);
}

// RoBERTa counts positions from behind the padding id's row and has another head.
TEST(EncoderDecoder, Roberta) {
  auto json = published("encoder-decoder-bert");
  for (const char* side : {"encoder", "decoder"}) {
    json[side]["model_type"] = "roberta";
    json[side]["pad_token_id"] = 1;
    json[side]["hidden_act"] = "relu";
  }
  const auto config = parse(json);
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->tokenizer, "roberta");
  EXPECT_EQ(config->decoder.position_offset, 2u);
  EXPECT_EQ(config->decoder.max_positions, 46u);
  EXPECT_EQ(config->decoder.uncounted_id, 1u);
  EXPECT_EQ(config->output_activation, Activation::gelu_erf);
  const Names names = find_family("encoder-decoder")->names(*config);
  EXPECT_EQ(names.decoder.layer.cross.q, "decoder.roberta.encoder.layer.{}.crossattention.self.query");
  EXPECT_EQ(names.encoder.layer.fc1, "encoder.encoder.layer.{}.intermediate.dense");
  EXPECT_EQ(names.output_transform, "decoder.lm_head.dense");
  EXPECT_EQ(names.output_norm, "decoder.lm_head.layer_norm");
  EXPECT_THAT(names.output, Contains("decoder.lm_head.decoder.weight"));
}

TEST(EncoderDecoder, UntiedHeads) {
  auto json = published("encoder-decoder-bert");
  json["decoder"]["tie_word_embeddings"] = false;
  const auto config = parse(json);
  ASSERT_TRUE(config.ok());
  const auto checkpoint = Checkpoint::open(directory("encoder-decoder-bert"));
  ASSERT_TRUE(checkpoint.ok());
  const auto network = bind_weights(*config, find_family("encoder-decoder")->names(*config), *checkpoint);
  ASSERT_FALSE(network.ok());
  EXPECT_THAT(network.error().message, HasSubstr("decoder.cls.predictions.decoder.weight"));
}

TEST(EncoderDecoder, Refused) {
  const auto message = [](const char* side, const char* key, const nlohmann::json& value) {
    auto json = published("encoder-decoder-bert");
    json[side][key] = value;
    const auto config = parse(json);
    EXPECT_FALSE(config.ok()) << side << " " << key << " = " << value;
    return config.ok() ? std::string() : config.error().message;
  };
  EXPECT_THAT(message("decoder", "model_type", "gpt2"),
              AllOf(HasSubstr("gpt2"), HasSubstr("decoder"), HasSubstr("bert")));
  EXPECT_THAT(message("encoder", "model_type", "vit"), HasSubstr("vit"));
  EXPECT_THAT(message("decoder", "position_embedding_type", "relative_key"), HasSubstr("relative_key"));
  EXPECT_THAT(message("encoder", "num_attention_heads", 5), HasSubstr("5 attention heads"));
  EXPECT_THAT(message("decoder", "hidden_act", "sine"), HasSubstr("sine"));
  auto json = published("encoder-decoder-bert");
  json.erase("decoder");
  EXPECT_FALSE(parse(json).ok());
  json["decoder"] = "bert";
  EXPECT_FALSE(parse(json).ok());
  json = published("encoder-decoder-bert");
  json["encoder"]["model_type"] = "roberta";
  json["encoder"]["pad_token_id"] = 2147483647;
  EXPECT_FALSE(parse(json).ok());
}

}  // namespace
}  // namespace lapilli::model
