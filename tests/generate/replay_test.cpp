// The replay law through a counting Vulkan table: what a search may call between its second and its last step, what it
// may read, and what another bucket may cost.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "generate/generate.hpp"
#include "generate/searches.hpp"
#include "search/engine_pool.hpp"

namespace lapilli {
namespace {

using namespace testing_support;

// The calls and events while steps were replayed.
struct Window {
  counting::Calls calls;
  uint32_t steps = 0;  // that came back in it
  uint64_t invalidated = 0;
  GenerateOutput output;
};

// Steps that the window holds at least, however late the host looked: it opens when two steps are done, by which time
// two submissions may have come back, and two more may come back at once at the end.
uint32_t least_window(uint32_t all, uint32_t per_submission) {
  return all - 2 * per_submission - std::max(2 * per_submission, 3u);
}

Result<Window> watch(const std::shared_ptr<Model>& model, const GenerateRequest& request) {
  LAPILLI_TRY(auto search, Search::start(model, request));
  Window w;
  counting::Calls before;
  uint32_t first = 0;
  uint64_t bytes = 0;
  LAPILLI_CHECK(search->run_to_end([&] {
    if (first == 0) {
      if (search->steps_done() < 2) return true;
      first = search->steps_done();
      before = counting::calls();
      bytes = counting::invalidated_bytes();
    }
    w.steps = search->steps_done() - first;
    w.calls = counting::since(before);
    w.invalidated = counting::invalidated_bytes() - bytes;
    return true;
  }));
  LAPILLI_TRY(w.output, search->take());
  return w;
}

class DeviceReplay : public testing::TestWithParam<const char*> {};

TEST_P(DeviceReplay, MakesNothingAndSubmitsOncePerSSteps) {
  LAPILLI_ASSERT_VALUE(const auto device, counted_device(GetParam()));
  LAPILLI_ASSERT_VALUE(const auto model, Model::random(device, "tiny"));
  constexpr uint32_t kSteps = 40;
  for (const uint32_t beams : {1u, 4u}) {
    for (const uint32_t steps : {1u, 2u, 4u, 8u}) {
      GenerateRequest request = request_of({7, 12, 3}, beams, kSteps);
      request.steps_in_flight = steps;
      LAPILLI_ASSERT_VALUE(const auto w, watch(model, request));
      ASSERT_GE(w.steps, least_window(kSteps, steps));
      const auto made = counting::setup_calls(w.calls);
      EXPECT_TRUE(made.empty()) << counting::to_string(made);
      EXPECT_LE(counting::submits(w.calls), w.steps / steps) << counting::to_string(w.calls);
      EXPECT_LE(counting::waits(w.calls), w.steps / steps) << counting::to_string(w.calls);
    }
  }
}

// Narrower steps take over within the window, and are as cheap for the host: they were bound with the session.
TEST_P(DeviceReplay, NarrowerStepsTakeOverWithoutMakingAnything) {
  LAPILLI_ASSERT_VALUE(const auto device, counted_device(GetParam()));
  LAPILLI_ASSERT_VALUE(const auto model, Model::random(device, "tiny"));
  model->engines().narrow_from = 0;
  for (const uint32_t beams : {1u, 2u}) {
    LAPILLI_ASSERT_VALUE(auto request,
                         ending_apart(model, {7, 12, 3, 5, 9, 4, 8, 6, 7, 2, 11, 3, 5, 10, 6, 12}, beams));
    request.steps_in_flight = 1;
    LAPILLI_ASSERT_VALUE(const auto w, watch(model, request));
    EXPECT_GT(w.output.stats.narrow_submissions, 4u) << beams;
    EXPECT_LT(w.output.stats.narrow_submissions, w.output.stats.submissions);
    ASSERT_GE(w.steps, least_window(w.output.stats.steps, 1));
    const auto made = counting::setup_calls(w.calls);
    EXPECT_TRUE(made.empty()) << counting::to_string(made);
    // Without other company, which plan ran a step depends on the log alone.
    LAPILLI_ASSERT_VALUE(const auto again, run_search(model, request));
    EXPECT_EQ(bits_of(again), bits_of(w.output));
    // Each source alone, with one plan, finds the same.
    std::set<size_t> lengths;
    for (size_t i = 0; i < request.sources.size(); ++i) {
      GenerateRequest one = request;
      one.sources = {request.sources[i]};
      LAPILLI_ASSERT_VALUE(const auto alone, run_search(model, one));
      EXPECT_EQ(alone.stats.narrow_submissions, 0u);
      EXPECT_EQ(alone.hypotheses[0][0].ids, w.output.hypotheses[i][0].ids) << i;
      lengths.insert(alone.hypotheses[0][0].ids.size());
    }
    EXPECT_GE(lengths.size(), 4u) << "the sources end at much the same step";
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, DeviceReplay,
                         testing::Values("full", "floor", "staging", "no-timeline", "no-indirect", "small-bindings"),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::erase(name, '-');
                           return name;
                         });

// On memory that is not coherent every byte that the host reads must have been invalidated, and every byte that it
// writes flushed: the table keeps two copies, and only those calls carry bytes across.
TEST(DeviceReplayNonCoherent, ReadsOnlyLogRowsAndFlushesWhatItWrites) {
  LAPILLI_ASSERT_VALUE(const auto plain_device, counted_device());
  LAPILLI_ASSERT_VALUE(auto plain_model, Model::load(plain_device, marian()));
  constexpr uint64_t kAtom = 64;
  for (const uint32_t beams : {1u, 4u}) {
    const GenerateRequest request = request_of({7, 12, 3}, beams, 24);
    counting::pretend_non_coherent(0);
    LAPILLI_ASSERT_VALUE(const auto want, run_search(plain_model, request));
    for (const char* mask : {"full", "staging"}) {
      counting::pretend_non_coherent(kAtom);
      LAPILLI_ASSERT_VALUE(const auto device, counted_device(mask));
      EXPECT_GE(device->caps().non_coherent_atom, kAtom);
      LAPILLI_ASSERT_VALUE(const auto model, Model::load(device, marian()));
      LAPILLI_ASSERT_VALUE(const auto w, watch(model, request));
      EXPECT_EQ(bits_of(w.output), bits_of(want)) << mask;
      ASSERT_GE(w.steps, 8u);
      const uint64_t row = state::log_stride(4 * beams) * 4;  // three sources have a bucket of four
      EXPECT_GT(w.invalidated, 0u) << mask;
      EXPECT_LE(w.invalidated, w.steps * (row + 2 * kAtom)) << mask;
    }
    counting::pretend_non_coherent(0);
  }
}

// Another length and another number of sources make new plans, sessions, descriptor sets and recordings. Pipelines only
// where they choose other variants, and never twice.
TEST(DeviceBuckets, ASizeCreatesItsPipelinesOnce) {
  LAPILLI_ASSERT_VALUE(const auto device, counted_device());
  LAPILLI_ASSERT_VALUE(const auto model, Model::random(device, "tiny"));
  const std::vector<std::vector<uint32_t>> sizes{
      {7}, {33}, {200}, {5, 6}, {9, 30, 2}, std::vector<uint32_t>(5, 12), std::vector<uint32_t>(20, 40), {1}};
  for (const uint32_t beams : {1u, 4u}) {
    for (const auto& lengths : sizes) LAPILLI_ASSERT_OK(run_search(model, request_of(lengths, beams, 4)));
    const uint64_t before = device->counters().pipelines_created;
    EXPECT_GT(before, 0u);
    for (const auto& lengths : sizes) {
      model->engines().drop_free();
      LAPILLI_ASSERT_OK(run_search(model, request_of(lengths, beams, 4)));
      EXPECT_EQ(device->counters().pipelines_created, before)
          << lengths.size() << " sources of " << lengths[0] << ", " << beams << " beams";
    }
    LAPILLI_ASSERT_OK(run_search(model, request_of({7}, beams, 40)));
    EXPECT_EQ(device->counters().pipelines_created, before) << "a longer output";
    std::printf("%u beams: %llu pipelines in all\n", beams, static_cast<unsigned long long>(before));
  }
}

}  // namespace
}  // namespace lapilli
