#include "model/features.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "ops/core/spans.hpp"
#include "ops/core/state.hpp"

namespace lapilli::model {
namespace {

using testing::HasSubstr;

FeatureInput layers(std::vector<InputLayer> list, uint32_t front = 0) {
  FeatureInput input;
  input.width = 4;
  input.layers = std::move(list);
  input.front = front;
  return input;
}

const FeatureInput kWhisper = layers({{3, 1, 1, 1, 8}, {3, 2, 1, 1, 8}});
const FeatureInput kMoonshine = layers({{127, 64, 0, 0, 8}, {7, 3, 0, 0, 8}, {3, 2, 0, 0, 8}});
const FeatureInput kSpeechToText = layers({{5, 2, 2, 2, 8}, {5, 2, 2, 2, 8}});
const FeatureInput kPicture = layers({{1, 1, 0, 0, 8}}, 2);

TEST(Features, LevelsHaveTheRowsThatConvolutionsLeave) {
  EXPECT_EQ(level_rows(kWhisper, 3000), (std::vector<uint32_t>{3000, 3000, 1500, 1500}));
  EXPECT_EQ(level_rows(kWhisper, 5), (std::vector<uint32_t>{5, 5, 3, 3}));
  EXPECT_EQ(level_rows(kMoonshine, 16000), (std::vector<uint32_t>{16000, 249, 81, 40, 40}));
  EXPECT_EQ(level_rows(kMoonshine, 126), (std::vector<uint32_t>{126, 0, 0, 0, 0}));
  EXPECT_EQ(level_rows(kSpeechToText, 9), (std::vector<uint32_t>{9, 5, 3, 3}));
  EXPECT_EQ(level_rows(kPicture, 196), (std::vector<uint32_t>{196, 196, 198}));
}

// Whatever sources a pass has, their rows on every level fit the room that goes by those in the encoder.
TEST(Features, RoomHoldsEveryPass) {
  std::mt19937 random(7);
  for (const FeatureInput& input : {kWhisper, kMoonshine, kSpeechToText, kPicture})
    for (int round = 0; round < 300; ++round) {
      const uint32_t sources = 1 + random() % 5;
      std::vector<uint64_t> rows(feature_levels(input), 0);
      for (uint32_t i = 0; i < sources; ++i) {
        const auto one = level_rows(input, 500 + random() % 3000);
        for (size_t level = 0; level < one.size(); ++level) rows[level] += one[level];
      }
      const auto room = level_room(input, rows.back(), sources);
      ASSERT_EQ(room.size(), rows.size());
      for (size_t level = 0; level < rows.size(); ++level) EXPECT_LE(rows[level], room[level]) << level;
    }
}

TEST(Features, SpansFollowOneAnotherOrLieApart) {
  const std::vector<FeatureRows> rows{{5}, {4}};
  const auto words = feature_span_words(kWhisper, rows);
  ASSERT_EQ(words.size(), 4 * size_t{state::SPAN_WORDS});
  const auto level = [&](const std::vector<uint32_t>& all, size_t i) {
    return spans_of(std::span(all).subspan(i * state::SPAN_WORDS, state::SPAN_WORDS));
  };
  EXPECT_EQ(level(words, 0).at(1).row, 5u);
  EXPECT_EQ(level(words, 3).at(1).row, 3u);
  EXPECT_EQ(level(words, 3).at(1).ids, 2u);
  const auto apart = feature_span_words(kWhisper, rows, level_rows(kWhisper, 9));
  EXPECT_EQ(level(apart, 0).at(1).row, 9u);
  EXPECT_EQ(level(apart, 3).at(1).row, 5u);
}

// Convolutions read the padding of a source, attention does not.
TEST(Features, FillingDoesNotCount) {
  EXPECT_EQ(counted_rows(kMoonshine, {8000}), 19u);
  EXPECT_EQ(counted_rows(kMoonshine, {8000, 8000}), 19u);
  EXPECT_EQ(counted_rows(kMoonshine, {8000, 6111}), 16u);
  EXPECT_EQ(counted_rows(kMoonshine, {8000, 384}), 1u);
  EXPECT_EQ(counted_rows(kSpeechToText, {90, 57}), 15u);
  EXPECT_EQ(counted_rows(kPicture, {196, 3}), 5u);
  const std::vector<FeatureRows> rows{{90, 57}, {90}};
  const auto at = [&](const std::vector<uint32_t>& all, size_t level, size_t i) {
    return spans_of(std::span(all).subspan(level * state::SPAN_WORDS, state::SPAN_WORDS)).at(i);
  };
  const auto packed = feature_span_words(kSpeechToText, rows);
  EXPECT_EQ(at(packed, 2, 0).ids, 23u);
  EXPECT_EQ(at(packed, 3, 0).ids, 15u);
  EXPECT_EQ(at(packed, 3, 1).row, 15u);
  const auto apart = feature_span_words(kSpeechToText, rows, level_rows(kSpeechToText, 90));
  EXPECT_EQ(at(apart, 3, 0).ids, 23u);  // it has no position, but it is there
  EXPECT_EQ(at(apart, 3, 0).slot, 15u);
  EXPECT_EQ(at(apart, 3, 1).row, 23u);
}

class FeatureChecks : public testing::Test {
 protected:
  void SetUp() override {
    config_.features = kWhisper;
    config_.features.rows = 6;
    config_.encoder.max_positions = 3;
  }
  std::string refused(const Features& f) {
    const auto rows = check_features(config_, f, "source 3");
    return rows ? "" : rows.error().message;
  }
  Config config_;
};

TEST_F(FeatureChecks, SayWhatDoesNotFit) {
  const std::vector<float> values(24, 0.5f);
  ASSERT_TRUE(check_features(config_, {6, 4, values}, "source 3"));
  EXPECT_EQ(*check_features(config_, {6, 4, values}, "source 3"), 3u);
  EXPECT_THAT(refused({8, 3, values}), HasSubstr("source 3 has features of 3 numbers, the model's have 4"));
  EXPECT_THAT(refused({7, 4, values}), HasSubstr("24 numbers are not 7 rows of 4"));
  EXPECT_THAT(refused({0, 4, {}}), HasSubstr("0 rows"));
  EXPECT_THAT(refused({5, 4, std::vector<float>(20, 0.0f)}), HasSubstr("the model takes 6"));
  config_.features.rows = 0;
  EXPECT_THAT(refused({8, 4, std::vector<float>(32, 0.0f)}), HasSubstr("positions for 3"));
  EXPECT_THAT(refused({6, 4, values, 7}), HasSubstr("7 of 6 rows of features count"));
  config_.features.most = 5;
  EXPECT_THAT(refused({6, 4, values}), HasSubstr("takes at most 5"));
}

TEST_F(FeatureChecks, TakeNoNumberForAFeature) {
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    std::vector<float> values(24, 0.5f);
    values[17] = bad;
    EXPECT_THAT(refused({6, 4, values}), HasSubstr("not a finite number"));
  }
}

}  // namespace
}  // namespace lapilli::model
