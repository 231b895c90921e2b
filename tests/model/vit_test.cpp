// Encoders of pictures, alone and in pairs: what config.json means, what is refused, shares of tensors that hold
// several layers, pictures of another size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "model/families/family.hpp"
#include "model/network.hpp"
#include "model/patches.hpp"
#include "model/published.hpp"
#include "support/safetensors_file.hpp"

namespace lapilli::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Pictures : public testing::Test {
 protected:
  void read(const std::string& name) {
    const std::string directory = LAPILLI_TEST_DATA "/models/" + name + "/model";
    json_ = *read_json_file(directory + "/config.json");
    const auto checkpoint = Checkpoint::open(directory);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    for (const StoredTensor& t : checkpoint->tensors()) file_.tensors[t.name] = {t.shape, *read_floats(t)};
  }
  std::string refusal() {
    const auto config = parse(json_);
    return config ? "taken" : config.error().message;
  }
  Result<Network> bound() {
    file_.write();
    checkpoint_ = *Checkpoint::open_file(file_.path());
    LAPILLI_TRY(const auto config, parse(json_));
    return bind_weights(config, find_family(config.family)->names(config), checkpoint_);
  }
  nlohmann::json json_;
  testing_support::SafetensorsFile file_;
  Checkpoint checkpoint_;
};

TEST_F(Pictures, HeadsByTheArchitecture) {
  read("vit");
  const auto alone = parse(json_);
  ASSERT_TRUE(alone.ok());
  const HeadConfig* pooler = alone->head(HeadKind::vectors);
  ASSERT_TRUE(pooler && !alone->head(HeadKind::classes) && !alone->head(HeadKind::tokens));
  EXPECT_EQ(pooler->pooled, 36u);
  EXPECT_EQ(pooler->columns, 0u);
  EXPECT_EQ(alone->decoder.layers, 0u);
  json_["architectures"] = {"ViTForMaskedImageModeling"};
  EXPECT_THAT(refusal(), HasSubstr("'ViTForMaskedImageModeling' is not supported; ViTModel and ViTForImage"));
  read("vit-image-classification");
  const auto classes = parse(json_);
  ASSERT_TRUE(classes.ok());
  const HeadConfig* head = classes->head(HeadKind::classes);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->columns, 9u);
  EXPECT_EQ(head->pooled, 0u);
}

TEST_F(Pictures, APoolerMayBeMissing) {
  read("vit");
  file_.tensors.erase("pooler.dense.weight");
  file_.tensors.erase("pooler.dense.bias");
  const auto network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_EQ(network->heads.front().pooled, kNoWeight);
}

TEST_F(Pictures, DeiTHasTwoRowsInFront) {
  read("vit");
  json_["model_type"] = "deit";
  json_["architectures"] = {"DeiTModel"};
  EXPECT_THAT(bound().error().message, HasSubstr("position_embeddings"));
  auto& positions = file_.tensors["embeddings.position_embeddings"];
  positions.shape[1] += 1;
  positions.values.resize(positions.values.size() + 36);
  EXPECT_THAT(bound().error().message, HasSubstr("distillation_token"));
  file_.tensors["embeddings.distillation_token"] = {{1, 1, 36}, std::vector<float>(36, 2.0f)};
  const auto network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_EQ(network->config.encoder.max_positions, 18u);
  EXPECT_EQ(network->weights[network->encoder.positions].parts.size(), 3u);
}

TEST_F(Pictures, SizesThatMakeNoSense) {
  read("vit");
  const nlohmann::json good = json_;
  const std::pair<const char*, nlohmann::json> cases[] = {
      {"image_size", 0},   {"image_size", {32, 32, 32}}, {"image_size", 7},
      {"patch_size", 0},   {"patch_size", 33},           {"num_channels", 99},
      {"hidden_size", 35}, {"num_hidden_layers", 0},     {"image_size", 8000}};
  for (const auto& [key, value] : cases) {
    json_ = good;
    json_[key] = value;
    if (key == std::string("image_size") && value == 8000) json_["patch_size"] = 1;
    EXPECT_THAT(refusal(), HasSubstr("config.json")) << key << " " << value;
  }
}

TEST_F(Pictures, PairsSayWhatTheyKnow) {
  read("trocr");
  const nlohmann::json good = json_;
  json_["encoder"]["model_type"] = "swin";
  EXPECT_THAT(refusal(), HasSubstr("\"swin\" as encoder is not supported; vit, deit and donut-swin are"));
  json_ = good;
  json_["decoder"]["model_type"] = "xglm";
  EXPECT_THAT(refusal(), HasSubstr("\"xglm\" as decoder is not supported; trocr, mbart, gpt2, bert and roberta are"));
  json_ = good;
  json_["decoder"]["cross_attention_hidden_size"] = 40;
  EXPECT_THAT(refusal(), HasSubstr("cross_attention_hidden_size 40, but the encoder is 36 wide"));
  json_ = good;
  json_.erase("encoder");
  EXPECT_THAT(refusal(), HasSubstr("encoder is missing"));
}

// The reference cannot load its own checkpoints of this kind; the table is that of M2M100.
TEST_F(Pictures, SinusoidsAreComputed) {
  read("trocr");
  json_["decoder"]["use_learned_position_embeddings"] = false;
  file_.tensors.erase("decoder.model.decoder.embed_positions.weight");
  const auto network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_EQ(network->config.decoder.position_offset, 2u);
  EXPECT_EQ(network->config.decoder.uncounted_id, 1u);
  EXPECT_FALSE(network->weights[network->decoder.positions].values.empty());
}

// [depth, 3 * columns]: queries, keys, values.
TEST_F(Pictures, SharesOfTransposedTensors) {
  read("vit-gpt2");
  const auto network = bound();
  ASSERT_TRUE(network.ok()) << network.error().message;
  const auto& spec = network->weights[network->decoder.layers[1].self.qkv];
  const auto& stored = file_.tensors["decoder.transformer.h.1.attn.c_attn.weight"].values;
  ASSERT_EQ(spec.parts.size(), 6u);
  for (size_t share = 0; share < 3; ++share) {
    const auto values = read_floats(*spec.parts[2 * share].tensor);
    ASSERT_TRUE(values.ok());
    ASSERT_EQ(values->size(), 40u * 40u);
    for (size_t n = 0; n < 40; ++n)
      for (size_t k = 0; k < 40; ++k) ASSERT_EQ((*values)[n * 40 + k], stored[k * 120 + share * 40 + n]);
    EXPECT_EQ(read_floats(*spec.parts[2 * share + 1].tensor)->front(),
              file_.tensors["decoder.transformer.h.1.attn.c_attn.bias"].values[share * 40]);
  }
}

TEST(Patches, ChannelByChannelRowByRow) {
  PatchInput p;
  p.channels = 2;
  p.height = 3;  // the last row is in no patch
  p.width = 4;
  p.patch_height = p.patch_width = 2;
  std::vector<float> pixels(24);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i);
  const auto f = patches_of(p, pixels);
  ASSERT_TRUE(f.ok()) << f.error().message;
  EXPECT_EQ(f->rows, 2u);
  EXPECT_THAT(f->values, ElementsAre(0, 1, 4, 5, 12, 13, 16, 17, 2, 3, 6, 7, 14, 15, 18, 19));
  EXPECT_FALSE(patches_of(p, std::span(pixels).first(23)).ok());
}

TEST(Patches, ResizedPositionsKeepWhatIsInFront) {
  const std::vector<float> table{9, 1, 1, 1, 1};
  EXPECT_THAT(resized_positions({1, 2, 2, 1, 3}, table, 1),
              ElementsAre(9, testing::FloatEq(1), testing::FloatEq(1), testing::FloatEq(1)));
  const std::vector<float> row{0, 1, 2, 3};
  EXPECT_THAT(resized_positions({0, 1, 4, 1, 4}, row, 1), ElementsAre(0, 1, 2, 3));
}

TEST_F(Pictures, AnotherSizeHasLimits) {
  read("vit");
  auto config = *parse(json_);
  EXPECT_THAT(set_picture_size(config, 7, 32).error().message, HasSubstr("patches of 8 by 8 in pictures of 7 by 32"));
  EXPECT_FALSE(set_picture_size(config, 0x80000000u, 0x80000000u).ok());
  ASSERT_TRUE(set_picture_size(config, 48, 24).ok());
  EXPECT_EQ(config.encoder.max_positions, 19u);
}

}  // namespace
}  // namespace lapilli::model
