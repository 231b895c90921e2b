// Prompts whose rows end at and beside the borders of tiles, whole models at a time: whatever shares a pass, however it
// is cut, with beams, and in sessions that grow, each text is the one that its prompt gets row by row.
#include <gmock/gmock.h>

#include <algorithm>

#include "generate/searches.hpp"
#include "search/engine_pool.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using namespace testing_support;

using Ids = std::vector<int32_t>;

// Rows of prompts, which are one fewer than their ids: tiles of 4, 8 and 16 rows.
constexpr uint32_t kPromptRows[] = {15, 16, 17, 31, 33, 3, 4, 5, 7, 9};

Ids ids_for(uint32_t rows) {
  Ids ids(rows + 1);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(1 + (rows * 7919 + i * i * 31 + i * 17) % 599);
  return ids;
}

GenerateRequest tiles_request(std::vector<Ids> prompts, uint32_t beams, uint32_t length) {
  GenerateRequest r;
  r.decoder_ids = std::move(prompts);
  r.options.num_beams = r.options.num_return_sequences = beams;
  r.options.max_new_tokens = r.options.min_new_tokens = length;
  r.deterministic = true;
  return r;
}

std::vector<Ids> all_prompts() {
  std::vector<Ids> prompts;
  for (const uint32_t rows : kPromptRows) prompts.push_back(ids_for(rows));
  return prompts;
}

class DevicePromptTiles : public testing::TestWithParam<const char*> {
 protected:
  void load(const std::string& shape) {
    LAPILLI_ASSERT_VALUE(device_, shared_device_with(GetParam()));
    LoadOptions options;
    options.prefix_cache = false;
    LAPILLI_ASSERT_VALUE(model_, Model::random(device_, shape, 1, options));
  }
  // One row a pass: no row has another one in its tile.
  std::string row_by_row(const GenerateRequest& request) {
    model_->engines().most_prompt_rows = 1;
    auto out = run_search(model_, request);
    if (!out) return ADD_FAILURE() << out.error().message, "";
    return bits_of(*out);
  }
  void expect_the_same(const GenerateRequest& request) {
    const std::string want = row_by_row(request);
    for (const uint32_t rows : {256u, 33u, 16u, 6u, 4u}) {
      model_->engines().most_prompt_rows = rows;
      LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
      EXPECT_EQ(bits_of(out), want) << rows << " rows a pass";
    }
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
};
// Lanes and tiles of four on CPU drivers, tiles of four elsewhere.
INSTANTIATE_TEST_SUITE_P(Masks, DevicePromptTiles, testing::Values("full", "gpu", "floor"),
                         [](const auto& i) { return std::string(i.param); });

TEST_P(DevicePromptTiles, BordersChangeNothing) {
  for (const char* shape : {"tiny,encoder=0,vocabulary=600", "tiny,encoder=0,vocabulary=600,heads=4,kv_heads=2"}) {
    SCOPED_TRACE(shape);
    ASSERT_NO_FATAL_FAILURE(load(shape));
    for (const uint32_t beams : {1u, 3u}) expect_the_same(tiles_request(all_prompts(), beams, 6));
  }
}

// Layers with a window keep rings, of which a pass of many rows needs more.
TEST_P(DevicePromptTiles, BordersOfWindows) {
  ASSERT_NO_FATAL_FAILURE(load("tiny,vocabulary=600,layers=3,encoder=0,window=12"));
  for (const uint32_t beams : {1u, 2u}) expect_the_same(tiles_request(all_prompts(), beams, 6));
}

// The caches of rows that ran in tiles move to a longer session.
TEST_P(DevicePromptTiles, SessionsThatGrow) {
  ASSERT_NO_FATAL_FAILURE(load("tiny,encoder=0,vocabulary=600"));
  for (const uint32_t beams : {1u, 2u}) {
    const GenerateRequest request = tiles_request({ids_for(193), ids_for(17), ids_for(33), ids_for(5)}, beams, 140);
    const std::string want = row_by_row(request);
    EXPECT_GE(model_->engines().known_positions(length_bucket(194)), 300u) << "it did not grow";
    model_->engines().most_prompt_rows = 256;
    LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
    EXPECT_EQ(bits_of(out), want);
  }
}

// Beside texts that are at their steps already.
TEST_P(DevicePromptTiles, BesideOthersAtWork) {
  ASSERT_NO_FATAL_FAILURE(load("tiny,encoder=0,vocabulary=600"));
  const GenerateRequest longer = tiles_request({ids_for(17), ids_for(4)}, 1, 60),
                        later = tiles_request(all_prompts(), 1, 6);
  const std::string want_longer = row_by_row(longer), want_later = row_by_row(later);
  model_->engines().most_prompt_rows = 256;
  LAPILLI_ASSERT_VALUE(auto first, Search::start(model_, longer));
  for (int i = 0; i < 12; ++i) (void)first->pump();
  LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, later));
  LAPILLI_ASSERT_OK(first->run_to_end());
  LAPILLI_ASSERT_VALUE(const auto of_first, first->take());
  EXPECT_EQ(bits_of(out), want_later);
  EXPECT_EQ(bits_of(of_first), want_longer);
}

}  // namespace
}  // namespace lapilli
