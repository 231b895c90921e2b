// Searches side by side, cancelled, thrown away and run again: right results, equal bits, nothing left behind.
#include "generate/searches.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdio>
#include <thread>

namespace lapilli {
namespace {

using namespace testing_support;

class DeviceSearches : public testing::Test {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, counted_device());
    LAPILLI_ASSERT_VALUE(model_, Model::load(device_, marian()));
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
};

TEST_F(DeviceSearches, TwoAtOnceOnOnePlanFromTwoThreads) {
  const GenerateRequest a = request_of({7, 12, 3}, 4, 0), b = request_of({9, 2, 10}, 4, 0);
  LAPILLI_ASSERT_VALUE(const auto want_a, run_search(model_, a));
  LAPILLI_ASSERT_VALUE(const auto want_b, run_search(model_, b));
  std::vector<std::string> got_a(6), got_b(6);
  const auto work = [&](const GenerateRequest& request, std::vector<std::string>& got) {
    for (auto& text : got) {
      const auto out = run_search(model_, request);
      text = out ? bits_of(*out) : out.error().message;
    }
  };
  std::thread other([&] { work(b, got_b); });
  work(a, got_a);
  other.join();
  EXPECT_THAT(got_a, testing::Each(bits_of(want_a)));
  EXPECT_THAT(got_b, testing::Each(bits_of(want_b)));
}

TEST_F(DeviceSearches, TwoAtOnceFromOneThread) {
  const GenerateRequest a = request_of({7, 12, 3}, 4, 20), b = request_of({9, 2, 10}, 1, 15);
  LAPILLI_ASSERT_VALUE(const auto want_a, run_search(model_, a));
  LAPILLI_ASSERT_VALUE(const auto want_b, run_search(model_, b));
  LAPILLI_ASSERT_VALUE(const auto job_a, Search::start(model_, a));
  LAPILLI_ASSERT_VALUE(const auto job_b, Search::start(model_, b));
  for (bool over_a = false, over_b = false; !over_a || !over_b;) {
    over_a = job_a->pump();
    over_b = job_b->pump();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  LAPILLI_ASSERT_VALUE(const auto out_a, job_a->take());
  LAPILLI_ASSERT_VALUE(const auto out_b, job_b->take());
  EXPECT_EQ(bits_of(out_a), bits_of(want_a));
  EXPECT_EQ(bits_of(out_b), bits_of(want_b));
}

// Ids that an earlier search wrote: the rest is what that search wrote behind them, by options that go by lengths too.
TEST_F(DeviceSearches, WrittenIdsCountAsNewOnes) {
  GenerateRequest whole = request_of({7, 12, 3}, 1, 0);
  whole.options.max_new_tokens = 20;
  whole.options.min_new_tokens = 12;
  whole.options.no_repeat_ngram_size = 2;
  LAPILLI_ASSERT_VALUE(const auto want, run_search(model_, whole));
  GenerateRequest rest = whole;
  for (uint32_t i = 0; i < 3; ++i) {
    const auto& ids = want.hypotheses[i][0].ids;
    rest.decoder_ids.emplace_back(ids.begin(), ids.begin() + 1 + 2 * (i + 1));
    rest.written.push_back(2 * (i + 1));
  }
  LAPILLI_ASSERT_VALUE(const auto got, run_search(model_, rest));
  for (size_t i = 0; i < 3; ++i) {
    const Hypothesis &all = want.hypotheses[i][0], &some = got.hypotheses[i][0];
    EXPECT_EQ(some.ids, all.ids);
    ASSERT_EQ(some.token_scores.size() + rest.written[i], all.token_scores.size());
    for (size_t k = 0; k < some.token_scores.size(); ++k)
      EXPECT_NEAR(some.token_scores[k], all.token_scores[k + rest.written[i]], 1e-3f);
  }
}

TEST_F(DeviceSearches, WrittenIdsThatCannotBe) {
  GenerateRequest r = request_of({7, 12}, 1, 4);
  r.decoder_ids = {{1, 2}, {1, 2}};
  r.written = {1};
  EXPECT_EQ(run_search(model_, r).error().code, ErrorCode::invalid_argument);
  r.written = {1, 3};
  EXPECT_EQ(run_search(model_, r).error().code, ErrorCode::invalid_argument) << "none is left in front";
  r.decoder_ids = {{1, 2, 3, 4, 5, 6, 7}, {1, 2, 3, 4, 5, 6, 7}};
  r.written = {6, 6};
  EXPECT_EQ(run_search(model_, r).error().code, ErrorCode::invalid_argument) << "longer than max_new_tokens";
}

// From the first submission to the result, whether the search state is mapped or has to be copied.
TEST_F(DeviceSearches, PumpNeverWaits) {
  for (const char* mask : {"full", "staging", "no-timeline"}) {
    LAPILLI_ASSERT_VALUE(const auto device, counted_device(mask));
    LAPILLI_ASSERT_VALUE(const auto model, Model::load(device, marian()));
    const GenerateRequest request = request_of({7, 12, 3}, 4, 20);
    LAPILLI_ASSERT_VALUE(const auto want, run_search(model, request));
    LAPILLI_ASSERT_VALUE(const auto a, Search::start(model, request));
    LAPILLI_ASSERT_VALUE(const auto b, Search::start(model, request));
    const auto before = counting::calls();
    for (bool over_a = false, over_b = false; !over_a || !over_b;) {
      over_a = a->pump();
      over_b = b->pump();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    EXPECT_EQ(counting::waits(counting::since(before)), 0u) << mask;
    LAPILLI_ASSERT_VALUE(const auto out_a, a->take());
    LAPILLI_ASSERT_VALUE(const auto out_b, b->take());
    EXPECT_EQ(bits_of(out_a), bits_of(want)) << mask;
    EXPECT_EQ(bits_of(out_b), bits_of(want)) << mask;
  }
}

// More positions are had in the middle of a search, by plans of their own.
TEST_F(DeviceSearches, GrowingDoesNotWait) {
  const GenerateRequest request = request_of({1}, 2, 55);  // 2 + 32 + 1 positions are usual
  LAPILLI_ASSERT_VALUE(const auto search, Search::start(model_, request));
  const auto before = counting::calls();
  while (!search->pump()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  EXPECT_EQ(counting::waits(counting::since(before)), 0u);
  LAPILLI_ASSERT_VALUE(const auto grown, search->take());
  LAPILLI_ASSERT_VALUE(const auto again, run_search(model_, request));  // by then it is known how many there are
  EXPECT_EQ(grown.hypotheses[0][0].ids.size(), 56u);
  EXPECT_EQ(bits_of(grown), bits_of(again));
}

TEST_F(DeviceSearches, CancelledBeforeDuringAndAfter) {
  GenerateRequest request = request_of({7, 12, 3}, 4, 22);
  request.steps_in_flight = 2;
  LAPILLI_ASSERT_VALUE(const auto want, run_search(model_, request));
  {  // before anything is submitted
    LAPILLI_ASSERT_VALUE(const auto search, Search::start(model_, request));
    search->cancel();
    const Status s = search->run_to_end();
    ASSERT_FALSE(s.ok());
    EXPECT_EQ(s.error().code, ErrorCode::cancelled);
    EXPECT_EQ(search->steps_done(), 0u);
    EXPECT_FALSE(search->take().ok());
  }
  for (const uint32_t at : {0u, 1u, 5u, 12u}) {  // from the callback, at some step
    LAPILLI_ASSERT_VALUE(const auto search, Search::start(model_, request));
    const Status s = search->run_to_end([&] { return search->steps_done() < at; });
    ASSERT_FALSE(s.ok());
    EXPECT_EQ(s.error().code, ErrorCode::cancelled);
    // At most at - 1 steps are done when the callback last says yes. The next pump may find both submissions (of two
    // steps) over and make two more before it says no, and those run to their end: at - 1 + 4 + 4.
    EXPECT_LE(search->steps_done(), at + 7);
  }
  {  // from another thread
    LAPILLI_ASSERT_VALUE(const auto search, Search::start(model_, request));
    std::thread other([&] { search->cancel(); });
    const Status s = search->run_to_end();
    other.join();
    EXPECT_TRUE(s.ok() || s.error().code == ErrorCode::cancelled);
  }
  {  // after the end it changes nothing
    LAPILLI_ASSERT_VALUE(const auto search, Search::start(model_, request));
    LAPILLI_ASSERT_OK(search->run_to_end());
    search->cancel();
    EXPECT_TRUE(search->pump());
    LAPILLI_ASSERT_VALUE(const auto out, search->take());
    EXPECT_EQ(bits_of(out), bits_of(want));
    EXPECT_FALSE(search->take().ok());  // once
  }
  // The sessions that the cancelled ones left behind are as good as new.
  LAPILLI_ASSERT_VALUE(const auto again, run_search(model_, request));
  EXPECT_EQ(bits_of(again), bits_of(want));
}

TEST_F(DeviceSearches, DestroyedAtAnyPoint) {
  const GenerateRequest request = request_of({7, 12, 3}, 4, 22);
  LAPILLI_ASSERT_VALUE(const auto want, run_search(model_, request));
  for (const uint32_t pumps : {0u, 1u, 2u, 5u}) {
    LAPILLI_ASSERT_VALUE(auto search, Search::start(model_, request));
    for (uint32_t i = 0; i < pumps; ++i) (void)search->pump();
    search.reset();
  }
  LAPILLI_ASSERT_VALUE(const auto again, run_search(model_, request));
  EXPECT_EQ(bits_of(again), bits_of(want));
}

// Everything above once more; afterwards the driver holds what it held before, and the device as many bytes.
TEST_F(DeviceSearches, LeaveNothingBehind) {
  const auto everything = [&] {
    LAPILLI_ASSERT_VALUE(const auto model, Model::load(device_, marian()));
    const GenerateRequest a = request_of({7, 12, 3}, 4, 22), b = request_of({9}, 1, 12);
    LAPILLI_ASSERT_OK(run_search(model, a));
    LAPILLI_ASSERT_OK(run_search(model, b));
    LAPILLI_ASSERT_VALUE(auto thrown_away, Search::start(model, a));
    (void)thrown_away->pump();
    LAPILLI_ASSERT_VALUE(const auto cancelled, Search::start(model, b));
    EXPECT_FALSE(cancelled->run_to_end([] { return false; }).ok());
    thrown_away.reset();
  };
  // The device still works for the discarded search; its memory is freed when that ends, and this search follows.
  const auto settle = [&] { LAPILLI_ASSERT_OK(run_search(model_, request_of({9}, 1, 12))); };
  everything();
  settle();
  if (HasFatalFailure()) return;
  const auto living = counting::living();
  const uint64_t bytes = device_->counters().device_bytes;
  for (int i = 0; i < 3; ++i) {
    everything();
    if (HasFatalFailure()) return;
  }
  settle();
  EXPECT_EQ(counting::living(), living);
  EXPECT_EQ(device_->counters().device_bytes, bytes);
  // With the device the rest goes.
  model_.reset();
  device_.reset();
  EXPECT_TRUE(counting::living().empty());
}

TEST_F(DeviceSearches, AReplayedPlanGivesTheBitsOfAFreshOne) {
  GenerateRequest request = request_of({7, 12, 3}, 4, 20);
  request.capture_scores = true;
  LAPILLI_ASSERT_VALUE(const auto first, run_search(model_, request));
  LAPILLI_ASSERT_OK(run_search(model_, request_of({12, 12, 12}, 4, 20)));  // other values through the same memory
  LAPILLI_ASSERT_VALUE(const auto second, run_search(model_, request));
  LAPILLI_ASSERT_VALUE(const auto fresh_device, counted_device());
  LAPILLI_ASSERT_VALUE(const auto fresh_model, Model::load(fresh_device, marian()));
  LAPILLI_ASSERT_VALUE(const auto fresh, run_search(fresh_model, request));
  EXPECT_EQ(bits_of(second), bits_of(first));
  EXPECT_EQ(bits_of(fresh), bits_of(first));
  ASSERT_EQ(first.captured.size(), 20u);
  for (const auto* other : {&second, &fresh}) {
    ASSERT_EQ(other->captured.size(), first.captured.size());
    for (size_t i = 0; i < first.captured.size(); ++i) {
      EXPECT_EQ(other->captured[i].rows, first.captured[i].rows);
      EXPECT_TRUE(other->captured[i].logits == first.captured[i].logits) << "step " << i;
      EXPECT_TRUE(other->captured[i].scores == first.captured[i].scores) << "step " << i;
    }
  }
}

TEST_F(DeviceSearches, EveryNumberOfStepsInFlightGivesTheSameResult) {
  for (const uint32_t beams : {1u, 4u}) {
    std::string first;
    for (const uint32_t steps : {1u, 2u, 4u, 8u, 3u}) {
      GenerateRequest request = request_of({7, 12, 3}, beams, 0);
      request.steps_in_flight = steps;
      LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
      if (first.empty()) first = bits_of(out);
      EXPECT_EQ(bits_of(out), first) << steps << " steps in flight";
    }
  }
}

// A search that outgrows the room that is usual for its source gets more and goes on.
TEST_F(DeviceSearches, LongerThanUsualGoesOn) {
  GenerateRequest request = request_of({1}, 2, 55);  // 2 + 32 + 1 positions are usual
  request.steps_in_flight = 4;
  LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, request));
  ASSERT_EQ(out.hypotheses.size(), 1u);
  EXPECT_EQ(out.hypotheses[0][0].ids.size(), 56u);
  EXPECT_EQ(out.stats.steps, 55u);
}

}  // namespace
}  // namespace lapilli
