// Layers that see a window of positions keep rings: texts several windows long are what they are with caches of all
// positions, with beams, with prompts longer than a pass, in sessions that grow; and the rings do not grow with them.
#include <gmock/gmock.h>

#include "generate/searches.hpp"
#include "model/shape.hpp"
#include "model/transformer.hpp"
#include "search/engine_pool.hpp"
#include "search/workspace_key.hpp"

namespace lapilli {
namespace {

using namespace testing_support;
using testing::HasSubstr;

constexpr uint32_t kWindow = 9, kCells = kWindow - 1 + model::kMostPromptRows;

class DeviceWindows : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, shared_device_with(""));
    LAPILLI_ASSERT_VALUE(rings_, Model::random(device_, kShape, 5));
    LAPILLI_ASSERT_VALUE(full_, Model::random(device_, std::string(kShape) + ",full_caches=1", 5));
  }
  // Prompts of these lengths, and how long the texts become.
  static GenerateRequest request(const std::vector<uint32_t>& prompts, uint32_t length) {
    GenerateRequest r;
    r.decoder_ids = random_sources(prompts, 600, 3);
    r.options.num_beams = r.options.num_return_sequences = GetParam();
    r.options.no_repeat_ngram_size = 3;  // a random network would say the same all the time
    r.options.eos_token_id = std::vector<int32_t>{};
    r.options.max_length = length;
    r.deterministic = true;
    return r;
  }
  void expect_same_texts(const GenerateRequest& request) const {
    LAPILLI_ASSERT_VALUE(const auto got, run_search(rings_, request));
    LAPILLI_ASSERT_VALUE(const auto want, run_search(full_, request));
    EXPECT_EQ(bits_of(got), bits_of(want));
    EXPECT_LT(got.stats.session_bytes, want.stats.session_bytes);
  }
  static constexpr const char* kShape = "tiny,encoder=0,decoder=3,kv_heads=2,vocabulary=600,positions=4096,window=9";
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> rings_, full_;
};
INSTANTIATE_TEST_SUITE_P(Beams, DeviceWindows, testing::Values(1u, 3u),
                         [](const auto& beams) { return format("%u", beams.param); });

// Past the ring's end, and around it twice.
TEST_P(DeviceWindows, TextsOfSeveralRounds) { expect_same_texts(request({1, 40, 7}, 2 * kCells + 50)); }

// Prompts in several passes, whose last rows see what the first ones of theirs have not overwritten.
TEST_P(DeviceWindows, PromptsLongerThanAPassAndThanARing) {
  expect_same_texts(request({kCells + 1, 560, 3, kCells, 2 * kCells - 1, 256, 257}, 600));
}

// A ring that is still as short as its session, then one that is whole while the other layers' caches go on.
TEST_P(DeviceWindows, SessionsThatGrow) {
  const GenerateRequest r = request({5, 2}, 3 * kCells);
  LAPILLI_ASSERT_VALUE(const auto got, run_search(rings_, r));
  ASSERT_GE(rings_->engines().known_positions(length_bucket(5)), 2 * kCells) << "none grew";
  LAPILLI_ASSERT_VALUE(const auto large, run_search(rings_, r));  // large from the start
  LAPILLI_ASSERT_VALUE(const auto want, run_search(full_, r));
  EXPECT_EQ(bits_of(got), bits_of(want));
  EXPECT_EQ(bits_of(large), bits_of(want));
}

// An early row would run again over cells that later ones have overwritten.
TEST_P(DeviceWindows, LogitsOfEarlyRowsAreRefused) {
  GenerateRequest r = request({400}, 410);
  r.logits_at = {{400 - model::kMostPromptRows, 400 - 1}};  // the last row writes a cell, too
  LAPILLI_ASSERT_VALUE(const auto got, run_search(rings_, r));
  LAPILLI_ASSERT_VALUE(const auto want, run_search(full_, r));
  EXPECT_EQ(got.logits, want.logits);
  --r.logits_at[0][0];
  const auto early = Search::start(rings_, r);
  ASSERT_FALSE(early.ok());
  EXPECT_THAT(early.error().message, HasSubstr("window"));
}

// ---- sizes ---------------------------------------------------------------------------------------------------------

uint64_t cache_bytes(const std::string& shape, uint32_t positions) {
  const auto config = model::parse_shape(shape);
  EXPECT_TRUE(config.ok());
  uint64_t bytes = 0;
  for (uint32_t i = 0; config && i < config->decoder.layers; ++i)
    bytes += KvLayout(model::self_kv_shape(*config, {1, 1, 0, positions}, i), KvFormat::fp16).bytes();
  return bytes;
}

TEST(Windows, RingsDoNotGrowWithWhatNoLayerSees) {
  // Twelve layers, four of which see everything.
  const std::string shape = "tiny,encoder=0,decoder=12,positions=65536,window=512";
  constexpr uint64_t kCell = 2 * 32 * 2;  // bytes of a position: keys and values of 32 columns
  EXPECT_EQ(cache_bytes(shape, 256), 12 * 256 * kCell);
  EXPECT_EQ(cache_bytes(shape, 8192), (4 * 8192 + 8 * (511 + 256)) * kCell);
  EXPECT_EQ(cache_bytes(shape, 16384) - cache_bytes(shape, 8192), 4 * 8192 * kCell);
  EXPECT_EQ(cache_bytes(shape + ",full_caches=1", 8192), 12 * 8192 * kCell);
}

}  // namespace
}  // namespace lapilli
