// Searches whose caches hold halves: as in fp32 but for rounding, in half of the memory, whatever moves their numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "generate/searches.hpp"
#include "search/engine_pool.hpp"
#include "search/search_graph.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using namespace testing_support;

constexpr const char* kShape = "tiny,vocabulary=600";

LoadOptions with_caches(KvFormat format) {
  LoadOptions load;
  load.kv_format = format;
  return load;
}

// The bytes of the states of a kind in a step's graph.
uint64_t state_bytes(const graph::Graph& g, StateKind kind) {
  uint64_t bytes = 0;
  for (const auto& t : g.tensors())
    if (t.space == graph::Space::state && state_kind(t.id) == kind) bytes += t.bytes();
  return bytes;
}

TEST(KvFormat, CachesTakeHalfOfTheMemory) {
  LAPILLI_ASSERT_VALUE(auto loaded, make_network("tiny"));
  const WorkspaceKey key = plain_key(4, 3, 32, 64);
  const auto full = step_graph(loaded.network, key).graph;
  loaded.network.kv_format = KvFormat::fp16;
  const auto halves = step_graph(loaded.network, key).graph;
  for (const auto kind : {StateKind::self_kv, StateKind::cross_kv}) {
    EXPECT_GT(state_bytes(halves, kind), 0u);
    EXPECT_EQ(2 * state_bytes(halves, kind), state_bytes(full, kind));
  }
  EXPECT_EQ(state_bytes(halves, StateKind::lineage), state_bytes(full, StateKind::lineage));
}

// Three heads of three: keys would begin in the middle of a word.
TEST(DeviceKvHeads, OddQueriesStayInFp32) {
  LAPILLI_ASSERT_VALUE(const auto device, shared_device());
  const LoadOptions load = with_caches(KvFormat::fp16);
  LAPILLI_ASSERT_VALUE(const auto odd, Model::random(device, "tiny,d=9,heads=3", 1, load));
  EXPECT_EQ(odd->info().kv_format, KvFormat::fp32);
  LAPILLI_ASSERT_VALUE(const auto even, Model::random(device, "tiny,d=12,heads=4", 1, load));
  EXPECT_EQ(even->info().kv_format, KvFormat::fp16);
}

// Where a driver's compiler fails at halves, asking for them is an error with advice, and nobody gets them unasked.
TEST(DeviceWithoutHalves, HalvesAreRefused) {
  LAPILLI_ASSERT_VALUE(const auto device, shared_device_with("gpu,no-halves"));
  LoadOptions weights;
  weights.format = WeightFormat::fp16;
  for (const LoadOptions& load : {weights, with_caches(KvFormat::fp16)}) {
    const auto refused = Model::random(device, kShape, 1, load);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_NE(refused.error().message.find("take bf16 or fp32"), std::string::npos) << refused.error().message;
  }
  LoadOptions by_class;
  by_class.format = std::nullopt;
  LAPILLI_ASSERT_VALUE(const auto unasked, Model::random(device, kShape, 1, by_class));
  EXPECT_EQ(unasked->info().format, WeightFormat::bf16);
  LAPILLI_ASSERT_VALUE(const auto done, run_search(unasked, request_of({7, 30, 3}, 1, 0)));
  EXPECT_FALSE(done.hypotheses.empty());
}

class DeviceKvFormat : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, shared_device_with(GetParam()));
    LAPILLI_ASSERT_VALUE(model_, Model::random(device_, kShape, 1, with_caches(KvFormat::fp16)));
    ASSERT_EQ(model_->info().kv_format, KvFormat::fp16);
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
};
INSTANTIATE_TEST_SUITE_P(Masks, DeviceKvFormat, testing::Values("full", "floor", "gpu", "staging"),
                         [](const auto& i) { return std::string(i.param); });

// Scores are those of fp32 but for rounding, and other ones: or the option would do nothing.
TEST_P(DeviceKvFormat, ScoresAreAboutThoseOfFp32) {
  LAPILLI_ASSERT_VALUE(const auto exact, Model::random(device_, kShape));
  GenerateRequest request = request_of({7, 30, 3}, 3, 0);
  request.options.max_new_tokens = request.options.min_new_tokens = 6;
  LAPILLI_ASSERT_VALUE(const auto full, run_search(exact, request));
  LAPILLI_ASSERT_VALUE(const auto halves, run_search(model_, request));
  EXPECT_NE(bits_of(full), bits_of(halves));
  for (size_t i = 0; i < full.hypotheses.size(); ++i)
    EXPECT_NEAR(full.hypotheses[i][0].score, halves.hypotheses[i][0].score, 2e-2f);
  EXPECT_LT(halves.stats.session_bytes, full.stats.session_bytes);
}

// Caches are copied when a session grows.
TEST_P(DeviceKvFormat, SessionsThatGrowKeepThem) {
  GenerateRequest request = request_of({7, 1, 3}, 2, 0);
  request.options.no_repeat_ngram_size = 1;
  request.options.max_length = 150;
  request.options.eos_token_id = std::vector<int32_t>{599};
  LAPILLI_ASSERT_VALUE(const auto grown, run_search(model_, request));
  ASSERT_GE(model_->engines().known_positions(8), 149u) << "it did not grow";
  LAPILLI_ASSERT_VALUE(const auto large, run_search(model_, request));  // what was needed is known by now
  for (size_t i = 0; i < request.sources.size(); ++i) {
    EXPECT_EQ(grown.hypotheses[i][0].ids, large.hypotheses[i][0].ids);
    EXPECT_NEAR(grown.hypotheses[i][0].score, large.hypotheses[i][0].score, 1e-5f);
  }
}

// Encoded sources are copied out of their places and into others: to the bit.
TEST_P(DeviceKvFormat, EncodedSourcesKeepThem) {
  GenerateRequest first = request_of({7, 12, 3}, 2, 8);
  first.keep_encoded = true;
  LAPILLI_ASSERT_VALUE(const auto kept, run_search(model_, first));
  GenerateRequest again = first;
  again.keep_encoded = false;
  again.sources.clear();
  again.encoded = {kept.encoded[2], kept.encoded[0], kept.encoded[1]};
  LAPILLI_ASSERT_VALUE(const auto searched, run_search(model_, again));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(searched.hypotheses[i][0].ids, kept.hypotheses[(i + 2) % 3][0].ids);
    EXPECT_EQ(searched.hypotheses[i][0].score, kept.hypotheses[(i + 2) % 3][0].score);
  }
}

}  // namespace
}  // namespace lapilli
