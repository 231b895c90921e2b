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
}

TEST(Shape, RefusesWhatNobodyCanHold) {
  for (const char* text :
       {"huge", "d=", "d=0", "d=-1", "d=1x", "d=99999999999", "heads=7", "width=3", "activation=sine", "d=16777216",
        "d=65536,heads=1,ffn=16777216", "tiny,vocabulary=16777216,d=1024", "tiny,layers=257", "tiny,positions=65537"}) {
    const auto c = parse_shape(text);
    ASSERT_FALSE(c.ok()) << text;
    EXPECT_EQ(c.error().code, ErrorCode::invalid_argument) << text;
    EXPECT_THAT(c.error().message, testing::StartsWith("shape: ")) << text;
  }
}

}  // namespace
}  // namespace lapilli::model
