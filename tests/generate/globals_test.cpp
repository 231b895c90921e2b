// Global positions of window attention: they count, belong to their source alone, and are checked.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/worst.hpp"
#include "generate/generate.hpp"
#include "support/fixtures.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using testing::HasSubstr;

class DeviceGlobals : public testing::Test {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, testing_support::shared_device());
    LAPILLI_ASSERT_VALUE(model_, Model::load(device_, LAPILLI_TEST_DATA "/models/led/model"));
  }
  // Longer than the windows (4 and 8 positions), of different lengths.
  static std::vector<int32_t> source(uint32_t length, int32_t seed) {
    std::vector<int32_t> ids;
    for (uint32_t i = 0; i + 1 < length; ++i) ids.push_back(4 + (seed + static_cast<int32_t>(i) * 37) % 150);
    ids.push_back(2);
    return ids;
  }
  // The encoder's output for the first source of the request, without padding.
  std::vector<float> memory(const ForwardRequest& request) {
    const auto outputs = forward(model_, request);
    EXPECT_TRUE(outputs.ok()) << testing_support::message_of(outputs);
    if (!outputs.ok()) return {};
    for (const auto& t : *outputs)
      if (t.name == "encoder_last_hidden_state")
        return {t.values.begin(), t.values.begin() + static_cast<ptrdiff_t>(request.sources[0].size() * t.shape[2])};
    return {};
  }
  static double difference(const std::vector<float>& a, const std::vector<float>& b) {
    EXPECT_EQ(a.size(), b.size());
    double worst = 0;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      worst = worse(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    return worst;
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
};

TEST_F(DeviceGlobals, CountForTheirSourceAlone) {
  ForwardRequest alone;
  alone.sources = {source(21, 3)};
  alone.targets = {{2}};
  const auto none = memory(alone);
  alone.global_positions = {{0, 11}};
  const auto want = memory(alone);
  EXPECT_GT(difference(none, want), 0.1);
  // In any order, and more than once.
  alone.global_positions = {{11, 0, 11}};
  EXPECT_EQ(difference(memory(alone), want), 0.0);
  // Beside others, padded.
  ForwardRequest beside = alone;
  beside.sources.insert(beside.sources.end(), {source(60, 8), source(5, 1)});
  beside.targets.resize(3, {2});
  beside.global_positions = {{0, 11}, {3, 4, 59}, {}};
  EXPECT_LT(difference(memory(beside), want), 1e-5);
}

// Sources are sorted by length and cut into searches: lists go with them.
TEST_F(DeviceGlobals, GoWithTheirSources) {
  GenerateRequest all;
  all.options.num_beams = 3;
  all.options.max_length = 14;
  const uint32_t lengths[] = {9, 40, 17};
  for (const uint32_t length : lengths) {
    all.sources.push_back(source(length, static_cast<int32_t>(length)));
    all.global_positions.push_back({0, length / 2});
  }
  LAPILLI_ASSERT_VALUE(const auto together, generate(model_, all));
  for (size_t i = 0; i < 3; ++i) {
    GenerateRequest one = all;
    one.sources = {all.sources[i]};
    one.global_positions = {all.global_positions[i]};
    LAPILLI_ASSERT_VALUE(const auto got, generate(model_, one));
    EXPECT_EQ(got.hypotheses[0][0].ids, together.hypotheses[i][0].ids) << i;
    EXPECT_NEAR(got.hypotheses[0][0].score, together.hypotheses[i][0].score, 1e-4) << i;
  }
}

TEST_F(DeviceGlobals, AreChecked) {
  GenerateRequest r;
  r.sources = {source(9, 1), source(7, 2)};
  r.global_positions = {{0}};
  auto out = generate(model_, r);
  ASSERT_FALSE(out.ok());
  EXPECT_THAT(out.error().message, HasSubstr("1 of 2 sources"));
  r.global_positions = {{0}, {7}};
  out = generate(model_, r);
  ASSERT_FALSE(out.ok());
  EXPECT_THAT(out.error().message, HasSubstr("source 1: global position 7"));
  ForwardRequest f;
  f.sources = r.sources;
  f.targets = {{2}, {2}};
  f.global_positions = r.global_positions;
  EXPECT_FALSE(forward(model_, f).ok());
  LAPILLI_ASSERT_VALUE(const auto marian, Model::load(device_, LAPILLI_TEST_DATA "/models/marian/model"));
  GenerateRequest m;
  m.sources = {{5, 6, 0}};
  m.global_positions = {{0}};
  out = generate(marian, m);
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().code, ErrorCode::unsupported);
  EXPECT_THAT(out.error().message, HasSubstr("marian"));
}

}  // namespace
}  // namespace lapilli
