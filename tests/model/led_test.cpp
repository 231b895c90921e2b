// LED: windows by layer, names of the encoder's projections, and what is refused.
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

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Led, PublishedDirectory) {
  const auto c = parse(published("led"));
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_THAT(c->encoder.windows, ElementsAre(2, 4));  // of 4 and 8 on both sides together
  EXPECT_TRUE(c->decoder.windows.empty());
  EXPECT_EQ(c->encoder.max_positions, 80u);
  EXPECT_EQ(c->decoder.max_positions, 64u);
  EXPECT_EQ(c->encoder.position_offset, 0u);
  EXPECT_TRUE(c->encoder.embedding_norm && c->decoder.embedding_norm);
  EXPECT_FALSE(c->encoder.pre_norm);
  const auto checkpoint = Checkpoint::open(directory("led"));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  const auto n = bind_weights(*c, find_family("led")->names(*c), *checkpoint);
  ASSERT_TRUE(n.ok()) << n.error().message;
  for (const LayerWeights& layer : n->encoder.layers) EXPECT_NE(layer.self.global_qkv, kNoWeight);
  for (const LayerWeights& layer : n->decoder.layers) EXPECT_EQ(layer.self.global_qkv, kNoWeight);
  EXPECT_EQ(n->output, n->encoder.embedding);
}

TEST(Led, OneWindowForAllLayers) {
  auto json = published("led");
  json["attention_window"] = 6;
  auto c = parse(json);
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_THAT(c->encoder.windows, ElementsAre(3, 3));
  json.erase("attention_window");
  c = parse(json);
  ASSERT_TRUE(c.ok());
  EXPECT_THAT(c->encoder.windows, ElementsAre(256, 256));
}

TEST(Led, Refused) {
  const auto message = [](const nlohmann::json& window) {
    auto json = published("led");
    json["attention_window"] = window;
    const auto c = parse(json);
    EXPECT_FALSE(c.ok()) << window;
    return c.ok() ? std::string() : c.error().message;
  };
  EXPECT_THAT(message(7), HasSubstr("attention_window 7"));
  EXPECT_THAT(message(0), HasSubstr("attention_window 0"));
  EXPECT_THAT(message({4, 8, 4}), HasSubstr("3 entries for 2"));
  EXPECT_THAT(message({4, "8"}), HasSubstr("attention_window"));
  EXPECT_THAT(message("wide"), HasSubstr("attention_window"));
  EXPECT_THAT(message(-2), HasSubstr("attention_window"));
}

}  // namespace
}  // namespace lapilli::model
