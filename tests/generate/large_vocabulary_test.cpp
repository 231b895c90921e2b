// Logits that exceed a binding: cut by rows, each sentence gets the ids that it gets among few.
#include <gtest/gtest.h>

#include "generate/searches.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using namespace testing_support;

// 64 sentences of 4 beams have 256 rows of 1 MiB; the floor binds 128 MiB.
TEST(DeviceLargeVocabulary, LogitsBeyondABinding) {
  LAPILLI_ASSERT_VALUE(const auto device, shared_device_with("floor"));
  ASSERT_EQ(device->caps().max_storage_range, uint64_t{128} << 20);
  LAPILLI_ASSERT_VALUE(const auto model,
                       Model::random(device, "tiny,vocabulary=262144,d=8,heads=2,ffn=16,layers=1,encoder=0"));
  GenerateRequest all;
  all.deterministic = true;
  all.options.num_beams = 4;
  all.options.max_new_tokens = all.options.min_new_tokens = 3;
  for (int32_t i = 0; i < 64; ++i) all.decoder_ids.push_back({1 + 4000 * i, 262143 - 111 * i});
  LAPILLI_ASSERT_VALUE(const auto together, run_search(model, all));
  EXPECT_EQ(together.stats.steps, 3u) << "all at once";
  for (const size_t first : {size_t{0}, size_t{31}, size_t{60}}) {
    GenerateRequest few = all;
    few.decoder_ids.assign(all.decoder_ids.begin() + static_cast<ptrdiff_t>(first),
                           all.decoder_ids.begin() + static_cast<ptrdiff_t>(first) + 4);
    LAPILLI_ASSERT_VALUE(const auto apart, run_search(model, few));
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(apart.hypotheses[i][0].ids, together.hypotheses[first + i][0].ids) << first + i;
  }
}

}  // namespace
}  // namespace lapilli
