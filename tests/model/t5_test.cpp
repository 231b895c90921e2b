// T5, mT5, UMT5: what config.json's fields mean, how heads are tied and scaled, and the buckets of relative positions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "model/families/family.hpp"
#include "model/network.hpp"
#include "model/published.hpp"
#include "model/relative.hpp"
#include "ops/attention/attention.hpp"

namespace lapilli::model {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Result<Network> bound(const nlohmann::json& json, const Checkpoint& checkpoint) {
  const std::string family = json.value("model_type", "");
  LAPILLI_TRY(const auto config, parse(json, family));
  return bind_weights(config, find_family(family)->names(config), checkpoint);
}

TEST(T5, PublishedDirectory) {
  const auto c = parse(published("t5"));
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->encoder.heads, 6u);
  EXPECT_EQ(c->encoder.head_dim, 8u);
  EXPECT_EQ(c->encoder.inner(), 48u);  // wider than d_model 40
  EXPECT_FALSE(c->encoder.scaled_attention);
  EXPECT_EQ(c->encoder.norm, Norm::rms);
  EXPECT_FLOAT_EQ(c->encoder.norm_epsilon, 1e-6f);
  EXPECT_FALSE(c->encoder.relative_per_layer);
  EXPECT_EQ(c->encoder.activation, Activation::relu);
  EXPECT_FALSE(c->encoder.gated);
  EXPECT_EQ(c->encoder.max_positions, 0u);
}

// Scaled if scale_decoder_outputs says so; where that is missing, if the embeddings are tied.
TEST(T5, OutputScale) {
  auto json = published("t5");
  const float scale = 1 / std::sqrt(40.0f);
  const auto of = [&] {
    const auto c = parse(json);
    EXPECT_TRUE(c.ok());
    return c.ok() ? c->output_scale : 0;
  };
  EXPECT_FLOAT_EQ(of(), scale);
  json["scale_decoder_outputs"] = false;
  EXPECT_FLOAT_EQ(of(), 1);
  json.erase("scale_decoder_outputs");
  EXPECT_FLOAT_EQ(of(), scale);
  json["tie_word_embeddings"] = false;
  EXPECT_FLOAT_EQ(of(), 1);
  json["scale_decoder_outputs"] = true;
  EXPECT_FLOAT_EQ(of(), scale);
  json.erase("scale_decoder_outputs");
  json.erase("tie_word_embeddings");
  EXPECT_FLOAT_EQ(of(), scale);
}

TEST(T5, Relatives) {
  auto json = published("umt5");
  for (const bool tied : {true, false}) {
    json["tie_word_embeddings"] = tied;
    const auto umt5 = parse(json, "umt5"), mt5 = parse(json, "mt5");
    ASSERT_TRUE(umt5.ok() && mt5.ok());
    EXPECT_FLOAT_EQ(umt5->output_scale, tied ? 1 / std::sqrt(32.0f) : 1);
    EXPECT_FLOAT_EQ(mt5->output_scale, 1);
    EXPECT_TRUE(umt5->encoder.relative_per_layer && umt5->decoder.relative_per_layer);
    EXPECT_FALSE(mt5->encoder.relative_per_layer);
  }
  // Files of version 5 of transformers say it themselves.
  json["scale_decoder_outputs"] = true;
  EXPECT_FLOAT_EQ(parse(json, "umt5")->output_scale, 1 / std::sqrt(32.0f));
  // Only T5's feed-forward is plain where the file does not say.
  json.erase("feed_forward_proj");
  EXPECT_TRUE(parse(json, "umt5")->encoder.gated);
  EXPECT_TRUE(parse(json, "mt5")->encoder.gated);
  EXPECT_FALSE(parse(json, "t5")->encoder.gated);
}

TEST(T5, FeedForwardForms) {
  auto json = published("t5");
  const auto is = [&](const char* text, bool gated, Activation activation) {
    json["feed_forward_proj"] = text;
    const auto c = parse(json);
    ASSERT_TRUE(c.ok()) << text;
    EXPECT_EQ(c->decoder.gated, gated) << text;
    EXPECT_EQ(c->decoder.activation, activation) << text;
  };
  is("relu", false, Activation::relu);
  is("gelu", false, Activation::gelu_erf);
  is("gelu_new", false, Activation::gelu_tanh);
  is("gated-gelu", true, Activation::gelu_tanh);
  is("gated-relu", true, Activation::relu);
  is("gated-silu", true, Activation::silu);
  is("gated-swish", true, Activation::silu);
  const auto names = find_family("t5")->names(*parse(json));
  EXPECT_EQ(names.decoder.layer.fc1, "decoder.block.{}.layer.2.DenseReluDense.wi_0");
  EXPECT_EQ(names.encoder.layer.gate, "encoder.block.{}.layer.1.DenseReluDense.wi_1");
}

TEST(T5, DefaultsOfOlderFiles) {
  auto json = published("t5");
  json.erase("relative_attention_max_distance");
  json.erase("num_decoder_layers");
  json.erase("layer_norm_epsilon");
  json["num_layers"] = 3;
  const auto c = parse(json);
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->decoder.relative_distance, 128u);
  EXPECT_EQ(c->decoder.layers, 3u);
  EXPECT_FLOAT_EQ(c->decoder.norm_epsilon, 1e-6f);
}

TEST(T5, EpsilonsOfNorms) {
  auto json = published("t5");
  json["layer_norm_epsilon"] = 0;
  const auto c = parse(json);
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_FLOAT_EQ(c->encoder.norm_epsilon, 1e-12f);
  json["layer_norm_epsilon"] = -1e-6;
  EXPECT_FALSE(parse(json).ok());
}

// One bias for a stack, or one a layer; the distances are one table a stack.
TEST(T5, SharedBias) {
  for (const char* name : {"t5", "umt5"}) {
    const auto checkpoint = Checkpoint::open(directory(name));
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    const auto n = bound(published(name), *checkpoint);
    ASSERT_TRUE(n.ok()) << n.error().message;
    for (const StackWeights* w : {&n->encoder, &n->decoder}) {
      const auto &first = w->layers[0].self, &second = w->layers[1].self;
      EXPECT_EQ(first.relative_bias == second.relative_bias, std::string(name) == "t5");
      EXPECT_EQ(first.distances, second.distances);
      EXPECT_EQ(first.distance_count, second.distance_count);
      EXPECT_NE(first.relative_bias, kNoWeight);
      EXPECT_EQ(w->layers[0].cross.relative_bias, kNoWeight);
    }
    EXPECT_NE(n->encoder.layers[0].self.distances, n->decoder.layers[0].self.distances);
  }
}

// A head of its own counts though config.json says "tied"; a tied one that is missing is the embedding.
TEST(T5, Heads) {
  const auto own = Checkpoint::open(directory("umt5")), shared = Checkpoint::open(directory("t5"));
  ASSERT_TRUE(own.ok() && shared.ok());
  auto n = bound(published("umt5"), *own);
  ASSERT_TRUE(n.ok());
  EXPECT_NE(n->output, n->decoder.embedding);
  EXPECT_EQ(n->encoder.embedding, n->decoder.embedding);
  n = bound(published("t5"), *shared);
  ASSERT_TRUE(n.ok());
  EXPECT_EQ(n->output, n->decoder.embedding);
  auto json = published("t5");
  json["tie_word_embeddings"] = false;
  EXPECT_FALSE(bound(json, *shared).ok());
}

TEST(T5, Refused) {
  const auto message = [](const char* key, const nlohmann::json& value) {
    auto json = published("t5");
    json[key] = value;
    const auto config = parse(json);
    EXPECT_FALSE(config.ok()) << key << " = " << value;
    return config.ok() ? std::string() : config.error().message;
  };
  EXPECT_THAT(message("feed_forward_proj", "gated-sine"), AllOf(HasSubstr("config.json"), HasSubstr("gated-sine")));
  EXPECT_THAT(message("feed_forward_proj", "silu-gelu"), HasSubstr("silu-gelu"));
  EXPECT_THAT(message("d_kv", 0), HasSubstr("d_kv"));
  EXPECT_THAT(message("num_heads", 100000), HasSubstr("num_heads"));
  EXPECT_THAT(message("relative_attention_num_buckets", 1), HasSubstr("1 buckets"));
  EXPECT_THAT(message("relative_attention_max_distance", 4), HasSubstr("distance of 4"));
  EXPECT_THAT(message("relative_attention_max_distance", 4000000000u), HasSubstr("distances"));
}

// Small enough to follow by hand: 8 buckets, near ones up to 1 on each side (bidirectional) or 3 (causal).
TEST(RelativeTable, SmallTables) {
  const auto both = relative_table(8, 8, true);
  ASSERT_TRUE(both.ok());
  // log(d / 2) / log(4) * 2 reaches 1 at distance 4.
  EXPECT_EQ(both->low, -4);
  EXPECT_THAT(both->buckets, ElementsAre(3, 2, 2, 1, 0, 5, 6, 6, 7));
  const auto causal = relative_table(8, 16, false);
  ASSERT_TRUE(causal.ok());
  // log(d / 4) / log(4) * 4: 0 from 4, 1 from 5.66, 2 from 8, 3 from 11.3.
  EXPECT_EQ(causal->low, -12);
  EXPECT_THAT(causal->buckets, ElementsAre(7, 6, 6, 6, 6, 5, 5, 4, 4, 3, 2, 1, 0));
}

TEST(RelativeTable, PublishedSizes) {
  const auto both = relative_table(32, 128, true), causal = relative_table(32, 128, false);
  ASSERT_TRUE(both.ok() && causal.ok());
  const auto at = [](const RelativeTable& t, int32_t distance) {
    const auto last = static_cast<int32_t>(t.buckets.size()) - 1;
    return t.buckets[static_cast<size_t>(std::clamp(distance - t.low, 0, last))];
  };
  EXPECT_EQ(at(*both, 0), 0);
  EXPECT_EQ(at(*both, -7), 7);
  EXPECT_EQ(at(*both, 7), 23);
  EXPECT_EQ(at(*both, -8), 8);
  EXPECT_EQ(at(*both, -16), 10);  // edges of buckets, where float arithmetic decides
  EXPECT_EQ(at(*both, -32), 12);
  EXPECT_EQ(at(*both, -64), 14);
  EXPECT_EQ(at(*both, -128), 15);
  EXPECT_EQ(at(*both, -100000), 15);
  EXPECT_EQ(at(*both, 100000), 31);
  EXPECT_EQ(at(*causal, 5), 0);
  EXPECT_EQ(at(*causal, -15), 15);
  EXPECT_EQ(at(*causal, -16), 16);
  EXPECT_EQ(at(*causal, -32), 21);
  EXPECT_EQ(at(*causal, -100000), 31);
}

}  // namespace
}  // namespace lapilli::model
