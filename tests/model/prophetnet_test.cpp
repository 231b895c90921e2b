// ProphetNet's config.json and tensors, its streams' graphs, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "model/families/family.hpp"
#include "model/published.hpp"
#include "model/transformer.hpp"
#include "ops/core/op.hpp"

namespace lapilli::model {
namespace {

using testing::HasSubstr;

// The tensors it points to are gone afterwards.
Result<Network> bind_published(const nlohmann::json& json) {
  LAPILLI_TRY(const auto config, parse(json));
  LAPILLI_TRY(const auto checkpoint, Checkpoint::open(directory("prophetnet")));
  return bind_weights(config, find_family("prophetnet")->names(config), checkpoint);
}

TEST(ProphetNet, PublishedDirectory) {
  const auto network = bind_published(published("prophetnet"));
  ASSERT_TRUE(network.ok()) << network.error().message;
  const StackConfig& decoder = network->config.decoder;
  EXPECT_EQ(decoder.streams, 2u);
  EXPECT_EQ(decoder.position_offset, 1u);
  EXPECT_EQ(decoder.max_positions, 62u);  // a predicting stream reads one row further
  EXPECT_EQ(network->config.encoder.max_positions, 63u);
  EXPECT_EQ(network->encoder.embedding, network->output);
  EXPECT_EQ(network->decoder.embedding, network->output);
  ASSERT_EQ(network->decoder.streams.size(), 2u);
  // The first stream has the last of the rows that mark streams.
  EXPECT_EQ(network->weights[network->decoder.streams[0]].parts[1].destination, 1u);
  EXPECT_EQ(network->weights[network->decoder.streams[1]].parts[1].destination, 0u);
}

// Streams do not read each other, so a step runs the first one alone.
TEST(ProphetNet, StepsRunOnePredictingStream) {
  const auto network = bind_published(published("prophetnet"));
  ASSERT_TRUE(network.ok()) << network.error().message;
  const auto count = [](const graph::Graph& g, const std::string& op) {
    size_t n = 0;
    for (const auto& node : g.nodes()) n += node.op->name == op ? 1 : 0;
    return n;
  };
  graph::Graph step;
  Builder b(*network, step);
  const DecodeRoom room{.slots = 2, .beams = 2, .source_positions = 8, .target_positions = 8};
  build_step(b, {room.beam_slots(), room});
  EXPECT_EQ(count(step, "stream_attention"), 2u);
  EXPECT_EQ(count(step, "attention_step"), 1u + 3u);
  EXPECT_TRUE(step.validate().ok());

  graph::Graph whole;
  Builder all(*network, whole);
  build_forward(all, {2, 5, 6, false, false, true});
  EXPECT_EQ(count(whole, "stream_attention"), 4u);
  EXPECT_TRUE(whole.validate().ok());
}

TEST(ProphetNet, Refused) {
  const std::pair<const char*, nlohmann::json> cases[] = {
      {"hidden_size", 33},
      {"ngram", 0},
      {"ngram", 1000},
      {"num_buckets", 0},
      {"num_buckets", 1e9},
      {"relative_max_distance", 0},
      {"pad_token_id", 62},
      {"pad_token_id", -1},
      {"max_position_embeddings", 2},
      {"add_cross_attention", false},
      {"num_decoder_layers", 0},
      {"activation_function", "sine"},
  };
  for (const auto& [key, value] : cases) {
    auto json = published("prophetnet");
    json[key] = value;
    const auto config = parse(json);
    ASSERT_FALSE(config.ok()) << key << " = " << value;
    EXPECT_THAT(config.error().message, HasSubstr("config.json")) << key;
  }
  for (const auto& [key, value] : {std::pair{"ngram", 3}, {"num_buckets", 17}, {"max_position_embeddings", 65}}) {
    auto json = published("prophetnet");
    json[key] = value;
    const auto network = bind_published(json);
    ASSERT_FALSE(network.ok()) << key;
    EXPECT_THAT(network.error().message, HasSubstr("tensor prophetnet.")) << key;
  }
}

}  // namespace
}  // namespace lapilli::model
