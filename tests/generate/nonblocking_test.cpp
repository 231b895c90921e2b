// Starting a search, admitting sources and growing never wait for the device, on memory that is mapped or not: the
// driver is asked for no wait at all while a search is pumped from its start to its end.
#include <gmock/gmock.h>

#include <thread>

#include "generate/searches.hpp"
#include "runtime/check/self_test.hpp"

namespace lapilli {
namespace {

using namespace testing_support;

class DeviceNonBlocking : public testing::TestWithParam<const char*> {};

// Polls only.
Result<GenerateOutput> pump_through(const std::shared_ptr<Model>& model, const GenerateRequest& request) {
  LAPILLI_TRY(auto search, Search::start(model, request));
  while (!search->pump()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  return search->take();
}

TEST_P(DeviceNonBlocking, NobodyWaitsFromTheStartToTheEnd) {
  LAPILLI_ASSERT_VALUE(const auto device, counted_device(GetParam()));
  LAPILLI_ASSERT_VALUE(const auto model, Model::random(device, "tiny"));
  for (const uint32_t beams : {1u, 3u}) {
    GenerateRequest first = request_of({7, 5}, beams, 4);
    first.decoder_ids = {{3, 4}, {5, 6}};
    // The first search of a kind tests its kernels.
    const size_t kernels = SelfTest::of(*device)->kernels();
    const auto before_first = counting::calls();
    LAPILLI_ASSERT_OK(pump_through(model, first));
    EXPECT_EQ(counting::waits(counting::since(before_first)), 0u);
    EXPECT_GT(SelfTest::of(*device)->kernels(), kernels);
    // run_to_end() waits, so that it is known that counting sees it.
    const auto start = counting::calls();
    LAPILLI_ASSERT_OK(run_search(model, first));
    EXPECT_GT(counting::waits(counting::since(start)), 0u);
    // Another size, more sources than run at a time, prompt ids of several lengths, and room that has to grow.
    GenerateRequest request = request_of({7, 12, 3, 9, 20, 1, 6, 11, 4, 8}, beams, 120);
    for (int32_t i = 0; i < 10; ++i) request.decoder_ids.emplace_back(1 + i % 4, 3 + i);
    request.batch = 4;
    const auto before = counting::calls();
    LAPILLI_ASSERT_VALUE(const auto out, pump_through(model, request));
    const auto calls = counting::since(before);
    EXPECT_EQ(counting::waits(calls), 0u) << counting::to_string(calls);
    ASSERT_EQ(out.hypotheses.size(), 10u);
    for (size_t i = 0; i < 10; ++i) EXPECT_EQ(out.hypotheses[i][0].ids.size(), request.decoder_ids[i].size() + 1 + 120);
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, DeviceNonBlocking, testing::Values("full", "staging", "floor", "no-timeline"),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace lapilli
