// Shapes of random networks: what a name or a list of changes gives, and what is refused before memory is asked for.
#include "model/shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lapilli::model {
namespace {

TEST(Shape, NamesAndChanges) {
  auto c = parse_shape("transformer-base");
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->decoder.d_model, 512u);
  EXPECT_EQ(c->target_vocabulary, 58101u);
  c = parse_shape("tiny,layers=1,decoder=3,vocabulary=11,activation=relu");
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->encoder.layers, 1u);
  EXPECT_EQ(c->decoder.layers, 3u);
  EXPECT_EQ(c->source_vocabulary, 11u);
  EXPECT_EQ(c->decoder.activation, Activation::relu);
  EXPECT_FALSE(c->decoder.gated);
  c = parse_shape("tiny,activation=gated-gelu_new");
  ASSERT_TRUE(c.ok());
  EXPECT_TRUE(c->encoder.gated && c->decoder.gated);
  EXPECT_EQ(c->decoder.activation, Activation::gelu_tanh);
  EXPECT_EQ(c->decoder.activation_name, "gelu_new");
}

TEST(Shape, EncodersOfPictures) {
  auto c = parse_shape("vit-base");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->encoder.max_positions, 197u);
  EXPECT_EQ(c->features.width, 768u);
  EXPECT_EQ(c->decoder.layers, 0u);
  c = parse_shape("vit-base,d=64,heads=4,picture=64");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->features.rows, 16u);
  EXPECT_EQ(c->features.layers[0].columns, 64u);
}

TEST(Shape, EncodersOfTexts) {
  auto c = parse_shape("minilm");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->encoder.layers, 6u);
  EXPECT_EQ(c->kind().reads, Reads::ids);
  EXPECT_FALSE(c->kind().decodes);
  ASSERT_NE(c->head(HeadKind::sentences), nullptr);
  EXPECT_EQ(c->head(HeadKind::sentences)->pooling, Pooling::mean);
  c = parse_shape("bge-small,d=64,heads=4,vocabulary=100");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->head(HeadKind::sentences)->pooling, Pooling::row);
  EXPECT_EQ(c->encoder.head_dim, 16u);
  c = parse_shape("bert-base");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->encoder.ffn, 3072u);
}

TEST(Shape, LayersThatSeeWhatIsNear) {
  const auto c = parse_shape("modernbert-base,encoder=5,d=64,heads=4,positions=300");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_THAT(c->encoder.windows, testing::ElementsAre(kNoWindow, 64u, 64u, kNoWindow, 64u));
  EXPECT_EQ(c->encoder.rotary, 16u);
  EXPECT_EQ(c->encoder.positions, Positions::none);
}

TEST(Shape, SpeechModels) {
  const auto c = parse_shape("whisper-tiny,positions=50,d=64,heads=4,vocabulary=100");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->features.width, 80u);
  EXPECT_EQ(c->features.rows, 100u);
  EXPECT_EQ(c->features.layers[1].columns, 64u);
  EXPECT_EQ(c->source_vocabulary, 0u);
  EXPECT_EQ(c->target_vocabulary, 100u);
}

TEST(Shape, OneSide) {
  auto c = parse_shape("tiny,decoder=0");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_FALSE(c->kind().decodes || c->kind().writes || c->kind().attends);
  EXPECT_TRUE(c->heads.empty());
  EXPECT_EQ(&c->last_stack(), &c->encoder);
  c = parse_shape("tiny,encoder=0,kv_heads=2");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_FALSE(c->kind().encodes || c->kind().attends);
  EXPECT_TRUE(c->kind().writes);
  EXPECT_EQ(c->kind().reads, Reads::nothing);
  EXPECT_EQ(c->source_vocabulary, 0u);
  EXPECT_EQ(c->decoder.group(), 2u);
}

TEST(Shape, RefusesWhatNobodyCanHold) {
  for (const char* text : {"huge",
                           "d=",
                           "d=0",
                           "d=-1",
                           "d=1x",
                           "d=99999999999",
                           "heads=7",
                           "width=3",
                           "activation=sine",
                           "activation=gated-sine",
                           "tiny,activation=gated-relu,ffn=30",
                           "d=16777216",
                           "d=65536,heads=1,ffn=16777216",
                           "tiny,vocabulary=16777216,d=1024",
                           "tiny,layers=257",
                           "tiny,positions=65537",
                           "tiny,picture=64",
                           "tiny,encoder=0,decoder=0",
                           "tiny,kv_heads=3",
                           "whisper-tiny,encoder=0",
                           "vit-base,encoder=0",
                           "vit-base,picture=8",
                           "vit-base,picture=16777216"}) {
    const auto c = parse_shape(text);
    ASSERT_FALSE(c.ok()) << text;
    EXPECT_EQ(c.error().code, ErrorCode::invalid_argument) << text;
    EXPECT_THAT(c.error().message, testing::StartsWith("shape: ")) << text;
  }
}

}  // namespace
}  // namespace lapilli::model
