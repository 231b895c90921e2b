// Donut's encoder: maps and windows by themselves, and what config.json means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "formats/hf_config.hpp"
#include "model/families/family.hpp"
#include "model/features.hpp"
#include "model/patches.hpp"
#include "ops/attention/swin_windows.hpp"

namespace lapilli::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two maps of 3 by 5 places in windows of 2, turned by 1.
TEST(SwinWindows, EveryPlaceIsInOneWindow) {
  const SwinWindows map{3, 5, 2, 1};
  EXPECT_EQ(map.count(), 6u);
  std::set<uint64_t> seen;
  for (uint64_t n = 0; n < 2 * map.count() * map.area(); ++n) {
    const uint64_t place = map.place_of(n);
    if (place == SwinWindows::kNone) continue;
    EXPECT_TRUE(seen.insert(place).second) << place;
    EXPECT_EQ(map.row_of(place), n);
  }
  EXPECT_EQ(seen.size(), 2 * map.places());
  EXPECT_EQ(*seen.rbegin(), 2 * map.places() - 1);
  // The first window begins at (1, 1) and goes down first.
  EXPECT_THAT((std::array{map.place_of(0), map.place_of(1), map.place_of(2), map.place_of(3)}),
              ElementsAre(6, 11, 7, 12));
}

TEST(SwinWindows, DistancesAndParts) {
  const SwinWindows map{4, 4, 2, 1};
  EXPECT_EQ(map.distance(0, 0), 4u);                       // the middle of 3 by 3
  EXPECT_EQ(map.distance(0, 3), 8u);                       // the query below and to the right
  EXPECT_EQ(map.distance(1, 0), 1u);                       // the key below
  EXPECT_EQ(map.distance(2, 0), 3u);                       // the key to the right
  EXPECT_FALSE(map.apart(0, 0, 3));                        // nothing was turned into the first window
  EXPECT_TRUE(map.apart(1, 0, 2) && !map.apart(1, 0, 1));  // at the right edge columns are apart
  EXPECT_TRUE(map.apart(2, 0, 1) && !map.apart(2, 0, 2));
  EXPECT_TRUE(map.apart(3, 0, 1) && map.apart(3, 0, 2) && map.apart(3, 0, 3) && !map.apart(3, 1, 1));
  const SwinWindows still{4, 4, 2, 0};
  for (uint64_t key = 0; key < 4; ++key) EXPECT_FALSE(still.apart(3, key, 0));
}

class Swin : public testing::Test {
 protected:
  void SetUp() override { json_ = *read_json_file(LAPILLI_TEST_DATA "/models/donut/model/config.json"); }
  [[nodiscard]] Result<Config> parsed() const {
    return find_family("vision-encoder-decoder")->config(json_, "config.json");
  }
  std::string refusal() {
    const auto config = parsed();
    return config ? "taken" : config.error().message;
  }
  nlohmann::json json_;
};

TEST_F(Swin, StagesAndTheirMaps) {
  const auto c = parsed();
  ASSERT_TRUE(c.ok()) << c.error().message;
  ASSERT_EQ(c->stages.size(), 2u);
  const StageConfig &first = c->stages[0], &last = c->stages[1];
  EXPECT_THAT((std::array{first.height, first.width, last.height, last.width}), ElementsAre(14, 10, 7, 5));
  EXPECT_THAT((std::array{first.stack.d_model, first.stack.ffn, last.stack.d_model, last.stack.ffn}),
              ElementsAre(12, 48, 24, 96));
  EXPECT_TRUE(first.merges && !last.merges);
  EXPECT_THAT((std::array{first.shift(0), first.shift(1), first.shift(2)}), ElementsAre(0, 2, 0));
  EXPECT_EQ(c->encoder.layers, 4u);
  EXPECT_EQ(c->encoder.max_positions, 35u);
  EXPECT_THAT(level_rows(c->features, c->features.rows), ElementsAre(140, 140, 35));
  // A pass of 100 rows has room for two pictures, however many sources there may be.
  EXPECT_THAT(level_room(c->features, 100, 8), ElementsAre(280, 280, 100));
  EXPECT_THAT(level_room(c->features, 100, 1), ElementsAre(140, 140, 100));
}

// A window that is as wide as its map is not turned.
TEST_F(Swin, OneWindowIsNotTurned) {
  json_["encoder"]["window_size"] = 5;
  const auto c = parsed();
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->stages[0].shift(1), 2u);
  EXPECT_EQ(c->stages[1].shift(1), 0u);
}

TEST_F(Swin, WhatMakesNoSense) {
  const nlohmann::json good = json_;
  const std::tuple<const char*, nlohmann::json, const char*> cases[] = {
      {"depths", {2}, "1 depths and 2 num_heads"},
      {"depths", nlohmann::json::array(), "depths is no list"},
      {"depths", {2, 0}, "depths 0"},
      {"num_heads", {2, 5}, "5 attention heads of the encoder do not divide its width 24"},
      {"hidden_size", 48, "hidden_size 48, but the last stage is 24 wide"},
      {"window_size", 8, "windows of 8 do not fit the map of 7 by 5"},
      {"window_size", 65, "window_size 65"},
      {"mlp_ratio", -1, "mlp_ratio -1"},
      {"use_absolute_embeddings", true, "use_absolute_embeddings true is not supported"},
      {"image_size", {3, 40}, "patches of 4 by 4 in pictures of 3 by 40"},
      {"embed_dim", 70000, "embed_dim"}};
  for (const auto& [key, value, told] : cases) {
    json_ = good;
    json_["encoder"][key] = value;
    EXPECT_THAT(refusal(), HasSubstr(told)) << key;
    EXPECT_THAT(refusal(), HasSubstr("config.json")) << key;
  }
  json_ = good;
  json_["decoder"]["add_final_layer_norm"] = false;
  EXPECT_THAT(refusal(), HasSubstr("add_final_layer_norm"));
}

TEST_F(Swin, PicturesOfAnotherSize) {
  auto c = *parsed();
  ASSERT_TRUE(set_picture_size(c, 61, 47).ok());  // a patch that is begun counts
  EXPECT_THAT((std::array{c.stages[0].height, c.stages[0].width, c.stages[1].height, c.stages[1].width}),
              ElementsAre(16, 12, 8, 6));
  EXPECT_EQ(c.features.rows, 192u);
  EXPECT_EQ(c.features.merged, 48u);
  // Nothing of what is refused is kept.
  EXPECT_THAT(set_picture_size(c, 61, 8).error().message, HasSubstr("windows of 4 do not fit the map of 16 by 2"));
  EXPECT_EQ(c.patches.width, 47u);
  EXPECT_FALSE(set_picture_size(c, 0xffffffffu, 0xffffffffu).ok());
}

TEST(Patches, WhatIsLeftOverIsFilled) {
  PatchInput p{1, 3, 3, 2, 2};
  p.filled = true;
  const std::vector<float> pixels{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto f = patches_of(p, pixels);
  ASSERT_TRUE(f.ok()) << f.error().message;
  EXPECT_EQ(f->rows, 4u);
  EXPECT_THAT(f->values, ElementsAre(1, 2, 4, 5, 3, 0, 6, 0, 7, 8, 0, 0, 9, 0, 0, 0));
}

}  // namespace
}  // namespace lapilli::model
