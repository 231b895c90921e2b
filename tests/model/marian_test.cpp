// Marian's config.json and tensors: what a published directory says, and what is refused, with words for whom it
// concerns.
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
using testing::HasSubstr;

TEST(Marian, PublishedDirectory) {
  const auto config = parse(published("marian"));
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->decoder.d_model, 32u);
  EXPECT_EQ(config->encoder.head_dim, 8u);
  EXPECT_EQ(config->decoder.activation, Activation::silu);
  const auto checkpoint = Checkpoint::open(directory("marian"));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  const auto network = bind_weights(*config, find_family("marian")->names(*config), *checkpoint);
  ASSERT_TRUE(network.ok()) << network.error().message;
  // One table serves both sides and the output.
  EXPECT_EQ(network->encoder.embedding, network->output);
  EXPECT_EQ(network->decoder.embedding, network->output);
  EXPECT_EQ(network->encoder.positions, network->decoder.positions);
}

TEST(Marian, ConfigsThatMakeNoSense) {
  struct Case {
    const char* key;
    nlohmann::json value;
  };
  const Case cases[] = {
      {"d_model", 0},
      {"d_model", 33},  // 4 heads
      {"d_model", 1u << 31},
      {"d_model", "32"},
      {"d_model", -1},
      {"d_model", 1e30},
      {"d_model", nullptr},
      {"encoder_layers", 0},
      {"encoder_layers", 4000000000u},
      {"decoder_layers", 257},
      {"encoder_attention_heads", 0},
      {"decoder_attention_heads", 5},
      {"encoder_ffn_dim", 0},
      {"decoder_ffn_dim", 1u << 30},
      {"vocab_size", 0},
      {"vocab_size", 1u << 30},
      {"max_position_embeddings", 0},
      {"max_position_embeddings", 4294967295u},
      {"activation_function", "sine"},
      {"activation_function", 3},
      {"share_encoder_decoder_embeddings", "yes"},
      {"normalize_before", true},
      {"add_final_layer_norm", true},
  };
  for (const Case& c : cases) {
    auto json = published("marian");
    json[c.key] = c.value;
    const auto config = parse(json);
    ASSERT_FALSE(config.ok()) << c.key << " = " << c.value;
    EXPECT_THAT(config.error().message, HasSubstr("config.json")) << c.key;
  }
}

class MarianWeights : public testing::Test {
 protected:
  // The error of binding the checkpoint to a configuration that differs in one key.
  Error error_of(const char* key, const nlohmann::json& value) {
    auto json = published("marian");
    json[key] = value;
    const auto config = parse(json);
    EXPECT_TRUE(config.ok()) << config.error().message;
    const auto checkpoint = Checkpoint::open(directory("marian"));
    if (!config.ok() || !checkpoint.ok()) return {};
    const auto network = bind_weights(*config, find_family("marian")->names(*config), *checkpoint);
    EXPECT_FALSE(network.ok()) << key << " = " << value;
    return network.ok() ? Error{} : network.error();
  }
};

TEST_F(MarianWeights, MissingAndWronglyShapedTensors) {
  EXPECT_THAT(error_of("encoder_layers", 3).message, AllOf(HasSubstr("lacks"), HasSubstr("encoder.layers.2")));
  EXPECT_THAT(error_of("encoder_ffn_dim", 61).message,
              AllOf(HasSubstr("fc1"), HasSubstr("[60, 32]"), HasSubstr("[61, 32]")));
  EXPECT_THAT(error_of("vocab_size", 256).message, AllOf(HasSubstr("[257, 32]"), HasSubstr("[256, 32]")));
  EXPECT_THAT(error_of("share_encoder_decoder_embeddings", false).message, HasSubstr("embed_tokens"));
}

// Widths and positions that only config.json claims must not become memory before a tensor bears them out.
TEST_F(MarianWeights, HugeClaimsCostNothing) {
  auto json = published("marian");
  json["d_model"] = 65536;
  json["max_position_embeddings"] = 65536;
  const auto config = parse(json);
  ASSERT_TRUE(config.ok()) << config.error().message;
  const auto checkpoint = Checkpoint::open(directory("marian"));
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_FALSE(bind_weights(*config, find_family("marian")->names(*config), *checkpoint).ok());
}

}  // namespace
}  // namespace lapilli::model
