// Speech2Text and Moonshine: what config.json means, what is refused, gates and norms of the way in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "model/families/family.hpp"
#include "model/network.hpp"
#include "model/positions.hpp"
#include "ops/attention/attention.hpp"
#include "support/safetensors_file.hpp"

namespace lapilli::model {
namespace {

using testing::HasSubstr;

class SoundFamilies : public testing::Test {
 protected:
  void read(const std::string& name) {
    const std::string directory = LAPILLI_TEST_DATA "/models/" + name + "/model";
    json_ = *read_json_file(directory + "/config.json");
    const auto checkpoint = Checkpoint::open(directory);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    for (const StoredTensor& t : checkpoint->tensors()) file_.tensors[t.name] = {t.shape, *read_floats(t)};
  }
  Result<Config> parsed() {
    return find_family(json_.at("model_type").get<std::string>())->config(json_, "config.json");
  }
  std::string refusal() {
    const auto config = parsed();
    return config ? "taken" : config.error().message;
  }
  std::string refused(const char* key, const nlohmann::json& value) {
    const auto kept = json_;
    json_[key] = value;
    const std::string said = refusal();
    json_ = kept;
    return said;
  }
  Result<Network> bound() {
    file_.write();
    checkpoint_ = *Checkpoint::open_file(file_.path());
    LAPILLI_TRY(const auto config, parsed());
    return bind_weights(config, find_family(config.family)->names(config), checkpoint_);
  }
  nlohmann::json json_;
  testing_support::SafetensorsFile file_;
  Checkpoint checkpoint_;
};

TEST_F(SoundFamilies, Speech2TextHalvesItsFrames) {
  read("speech_to_text");
  const auto c = parsed();
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->features.width, 24u);
  EXPECT_EQ(c->features.most, 200u);
  EXPECT_EQ(c->encoder.max_positions, 50u);
  ASSERT_EQ(c->features.layers.size(), 2u);
  EXPECT_EQ(c->features.layers[0].columns, 24u);  // of 48 half are gates
  EXPECT_EQ(c->features.layers[1].columns, 32u);
  EXPECT_TRUE(c->features.layers[0].gated);
  EXPECT_FLOAT_EQ(c->encoder.embedding_scale, std::sqrt(32.0f));
  json_.erase("conv_kernel_sizes");
  json_.erase("scale_embedding");  // true in this family
  EXPECT_EQ(refusal(), "taken");
  EXPECT_FLOAT_EQ(parsed()->decoder.embedding_scale, std::sqrt(32.0f));
}

TEST_F(SoundFamilies, Speech2TextRefuses) {
  read("speech_to_text");
  EXPECT_THAT(refused("conv_kernel_sizes", {5, 5, 5}), HasSubstr("num_conv_layers (2)"));
  EXPECT_THAT(refused("conv_kernel_sizes", {5, 0}), HasSubstr("conv_kernel_sizes 0"));
  EXPECT_THAT(refused("conv_kernel_sizes", "5"), HasSubstr("is not a list"));
  EXPECT_THAT(refused("conv_channels", 47), HasSubstr("odd"));
  EXPECT_THAT(refused("pad_token_id", 0), HasSubstr("no frame has a position"));
  EXPECT_THAT(refused("input_channels", 4096), HasSubstr("input_channels"));
  EXPECT_THAT(refused("max_source_positions", 70000), HasSubstr("max_source_positions"));
  json_["conv_channels"] = 64;
  EXPECT_THAT(bound().error().message, HasSubstr("has shape [48, 24, 5], config.json asks for [64, 24, 5]"));
}

// The product's first columns are gates, which lie behind the values in the file.
TEST_F(SoundFamilies, GatesComeFirst) {
  read("speech_to_text");
  const auto network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  const WeightSpec& w = network->weights[network->encoder.input[0]];
  EXPECT_EQ(w.n, 48u);
  ASSERT_EQ(w.parts.size(), 4u);
  const auto& stored = file_.tensors.at("model.encoder.conv.conv_layers.0.weight").values;
  EXPECT_EQ(w.parts[0].first_column, 24u);
  EXPECT_EQ(read_floats(*w.parts[0].tensor)->front(), stored.front());
  EXPECT_EQ(w.parts[1].first_column, 0u);
  EXPECT_EQ(read_floats(*w.parts[1].tensor)->front(), stored[stored.size() / 2]);
}

TEST_F(SoundFamilies, MoonshineReadsSamples) {
  read("moonshine");
  const auto c = parsed();
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->features.width, 1u);
  EXPECT_EQ(c->features.rows, 0u);
  EXPECT_TRUE(c->features.layers[0].group_norm);
  EXPECT_EQ(c->encoder.rotary, 10u);  // of heads of 12: 0.9
  EXPECT_FALSE(c->encoder.gated);
  EXPECT_TRUE(c->decoder.gated);
  const auto network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  // Both stacks have the same table.
  EXPECT_NE(network->encoder.layers[0].self.rotations, kNoWeight);
  EXPECT_EQ(network->encoder.layers[0].self.rotations, network->decoder.layers[1].self.rotations);
  EXPECT_EQ(network->decoder.layers[0].cross.rotations, kNoWeight);
  // The activated half follows the other one.
  const WeightSpec& fc1 = network->weights[network->decoder.layers[0].fc1];
  const auto& stored = file_.tensors.at("model.decoder.layers.0.mlp.fc1.weight").values;
  EXPECT_EQ(read_floats(*fc1.parts[0].tensor)->front(), stored[stored.size() / 2]);
}

TEST_F(SoundFamilies, OlderFilesSayThePositionsThemselves) {
  read("moonshine");
  json_.erase("rope_parameters");
  EXPECT_EQ(parsed()->encoder.rotary, 10u);
  json_["partial_rotary_factor"] = 0.5;
  json_["rope_theta"] = 500.0;
  EXPECT_EQ(parsed()->encoder.rotary, 6u);
  EXPECT_EQ(parsed()->encoder.rotary_base, 500.0);
  json_.erase("partial_rotary_factor");
  EXPECT_EQ(parsed()->encoder.rotary, 10u);
  // 0.9 of 10 is 9, and 9 columns are five pairs, the last one of a column that is turned for the pair's sake.
  json_["hidden_size"] = 30;
  json_["partial_rotary_factor"] = 0.9;
  EXPECT_EQ(parsed()->encoder.rotary, 9u);
  EXPECT_EQ(parsed()->encoder.rotary_pairs(), 5u);
}

TEST_F(SoundFamilies, MoonshineRefuses) {
  read("moonshine");
  EXPECT_THAT(refused("encoder_num_key_value_heads", 5), HasSubstr("5 heads of keys"));
  EXPECT_THAT(refused("rope_scaling", {{"type", "linear"}}), HasSubstr("rope_scaling"));
  EXPECT_THAT(refused("rope_parameters", {{"rope_type", "yarn"}}), HasSubstr("\"yarn\""));
  EXPECT_THAT(refused("rope_parameters", {{"partial_rotary_factor", 1.5}}), HasSubstr("partial_rotary_factor 1.5"));
  EXPECT_THAT(refused("rope_parameters", {{"rope_theta", 0}}), HasSubstr("rope_theta 0"));
  json_["rope_parameters"] = {{"partial_rotary_factor", 1}};
  EXPECT_THAT(refused("hidden_size", 39), HasSubstr("takes pairs"));
  EXPECT_THAT(refused("decoder_hidden_act", "nothing"), HasSubstr("\"nothing\" is not known"));
}

TEST_F(SoundFamilies, MoonshineWithBiasesInAttention) {
  read("moonshine");
  json_["attention_bias"] = true;
  EXPECT_THAT(bound().error().message, HasSubstr("q_proj.bias"));
  for (const std::string side : {"encoder", "decoder"})
    for (const std::string layer : {"0", "1"})
      for (const std::string attention : {"self_attn", "encoder_attn"})
        for (const std::string part : {"q", "k", "v"})
          file_.tensors["model." + side + ".layers." + layer + "." + attention + "." + part + "_proj.bias"] = {
              {36}, std::vector<float>(36, 0.5f)};
  EXPECT_TRUE(bound().ok()) << bound().error().message;  // and none behind it
}

TEST(Rotations, TwoRowsAddUpToAPosition) {
  StackConfig s;
  s.rotary = 6;
  const auto table = rotations(s, false);
  const uint64_t ld = 8;
  ASSERT_EQ(table.size(), 2 * kRotationRows * ld);
  const uint32_t position = 3 * kRotationRows + 41;
  for (uint32_t pair = 0; pair < 3; ++pair) {
    const double angle = position * std::pow(10000.0, -2.0 * pair / 6);
    const float *low = &table[41 * ld + 2 * pair], *high = &table[(kRotationRows + 3) * ld + 2 * pair];
    EXPECT_NEAR(low[0] * high[0] - low[1] * high[1], std::cos(angle), 1e-6);
    EXPECT_NEAR(low[1] * high[0] + low[0] * high[1], std::sin(angle), 1e-6);
  }
}

}  // namespace
}  // namespace lapilli::model
