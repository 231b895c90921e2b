// Steps in flight: the same log whatever the number of steps that a submission carries, and the same bits on a second
// replay of the same memory.
#include "runtime/runner.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "support/fixtures.hpp"
#include "support/network_rig.hpp"

namespace lapilli {
namespace {

using testing_support::SearchInput;

// A session with bound plans, ready for runs.
struct Bound {
  WorkspaceKey key;
  WorkspacePlans plans;
  std::unique_ptr<Session> session;
  std::unique_ptr<BoundPlan> encode, init, step;
  SearchInput input;
};

struct BindRequest {
  const model::Network* network = nullptr;
  std::shared_ptr<const Weights> weights;
  SearchInput input;
  uint32_t repeats = 1;
};

Result<Bound> bind_search(const std::shared_ptr<vulkan::Device>& device, const BindRequest& r) {
  Bound b;
  b.input = r.input;
  b.key = testing_support::exact_key(r.input);
  b.key.shape.target_positions += 8;  // for the steps of the last submission behind the end
  LAPILLI_TRY(b.plans, testing_support::compile_plans(*r.network, b.key, device->caps()));
  LAPILLI_TRY(b.session, Session::create(device));
  for (const auto& plan : {b.plans.encode, b.plans.init, b.plans.step}) b.session->require(*plan);
  LAPILLI_CHECK(b.session->allocate());
  const MemoryMap memory = b.session->memory([w = r.weights](graph::Space, uint32_t id) { return w->find(id); });
  LAPILLI_TRY(auto encode, BoundPlan::bind(device, b.plans.encode, memory));
  LAPILLI_TRY(auto init, BoundPlan::bind(device, b.plans.init, memory));
  LAPILLI_TRY(auto step, BoundPlan::bind(device, b.plans.step, memory, {r.repeats, {}}));
  b.encode = std::make_unique<BoundPlan>(std::move(encode));
  b.init = std::make_unique<BoundPlan>(std::move(init));
  b.step = std::make_unique<BoundPlan>(std::move(step));
  LAPILLI_CHECK(device->zero(*b.session->state(StateKind::log).buffer));
  for (const auto& [id, words] : testing_support::host_states(*r.network, b.key, r.input, b.plans.step.get()))
    LAPILLI_CHECK(b.session->write(state_kind(id), words));
  return b;
}

struct Run {
  std::vector<std::vector<uint32_t>> log;
  uint32_t submissions = 0;
  double ms = 0;
};

Result<Run> run_search(const Bound& b, uint32_t steps_per_submit, uint32_t in_flight, double work_limit = 2e11,
                       uint32_t log_mark = 0) {
  RunnerOptions o;
  o.max_steps = b.input.options.max_length - 1;
  o.steps_per_submit = steps_per_submit;
  o.submits_in_flight = in_flight;
  o.log_stride = LogLayout::stride(b.key.shape.slots());
  o.work_limit = work_limit;
  o.log_mark = log_mark;
  StepRunner runner(*b.session, *b.step, o);
  runner.prologue({b.encode.get(), b.init.get()});
  Run run;
  auto begin = std::chrono::steady_clock::now();
  runner.on_prologue = [&] { begin = std::chrono::steady_clock::now(); };
  runner.on_step = [&](uint32_t step, std::span<const uint32_t> row) {
    EXPECT_EQ(step, run.log.size());
    run.log.emplace_back(row.begin(), row.end());
  };
  while (true) {
    LAPILLI_TRY(const bool over, runner.pump());
    if (over) break;
    LAPILLI_CHECK(runner.wait_oldest());
  }
  run.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  run.submissions = runner.submissions();
  return run;
}

class DeviceRunner : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    vulkan::DeviceOptions options;
    options.mask = GetParam();
    LAPILLI_ASSERT_VALUE(device_, vulkan::Device::create(options));
  }
  void same_logs(const model::Network& network, SearchInput input, bool print) {
    input.options.decoder_start = input.options.pad = static_cast<int32_t>(network.config.target_vocabulary) - 1;
    input.options.end_ids = {0};
    input.options.forced_eos = {0};
    LAPILLI_ASSERT_VALUE(const auto sources, weight_sources(network));
    LAPILLI_ASSERT_VALUE(const auto weights, Weights::load(device_, sources));
    std::vector<std::vector<uint32_t>> first;
    const bool small = std::string(GetParam()) == "small-work";
    const auto limit = static_cast<double>(device_->caps().work_limit);
    for (const uint32_t steps : {1u, 2u, 4u, 8u}) {
      // Steps of one submission: in one recording, or the recording several times.
      for (const uint32_t repeats : {1u, steps}) {
        // Where submissions are small a recording holds one step, or a part of one.
        if (small && repeats > 1) break;
        LAPILLI_ASSERT_VALUE(const auto bound, bind_search(device_, {&network, weights, input, repeats}));
        LAPILLI_ASSERT_VALUE(const auto run, run_search(bound, steps, 2, limit));
        ASSERT_GT(run.log.size(), 3u);
        EXPECT_EQ(run.log.back()[1], 1u) << "the search has not ended";
        if (first.empty()) first = run.log;
        EXPECT_TRUE(run.log == first) << steps << " steps a submission";
        const size_t unbounded = 1 + (run.log.size() + steps - 1) / steps + 1;
        if (!small) {
          EXPECT_LE(run.submissions, unbounded) << steps << " steps a submission";
        } else if (steps == 8) {
          EXPECT_GT(run.submissions, unbounded);
        }
        // The same memory once more, and with another number of submissions in flight.
        LAPILLI_ASSERT_VALUE(const auto again, run_search(bound, steps, 3, limit));
        EXPECT_TRUE(again.log == first) << steps << " steps a submission, again";
        if (print)
          std::printf("%s: S = %u (%u a recording): %zu steps, %.2f ms a step, again %.2f\n", GetParam(), steps,
                      repeats, run.log.size(), run.ms / static_cast<double>(run.log.size()),
                      again.ms / static_cast<double>(run.log.size()));
        if (steps == 1) break;
      }
    }
  }
  std::shared_ptr<vulkan::Device> device_;
};

TEST_P(DeviceRunner, EveryNumberOfStepsInFlightGivesTheSameLog) {
  for (const uint32_t beams : {1u, 4u}) {
    LAPILLI_ASSERT_VALUE(const auto loaded, testing_support::make_network("tiny"));
    SearchInput input;
    input.options.beams = beams;
    input.options.max_length = 22;
    input.sources = testing_support::random_sources({7, 12, 3}, 257, 5);
    same_logs(loaded.network, input, false);
  }
}

// Rows that another run of the same memory left are not taken for this one's.
TEST_P(DeviceRunner, OlderLogsAreNotRead) {
  LAPILLI_ASSERT_VALUE(const auto loaded, testing_support::make_network("tiny"));
  SearchInput input;
  input.options.max_length = 22;
  input.options.decoder_start = input.options.pad = 256;
  input.options.end_ids = input.options.forced_eos = {0};
  input.sources = testing_support::random_sources({7, 12, 3}, 257, 5);
  LAPILLI_ASSERT_VALUE(const auto sources, weight_sources(loaded.network));
  LAPILLI_ASSERT_VALUE(const auto weights, Weights::load(device_, sources));
  LAPILLI_ASSERT_VALUE(const auto bound, bind_search(device_, {&loaded.network, weights, input, 1}));
  const uint32_t mark = 77;
  LAPILLI_ASSERT_OK(bound.session->write(StateKind::params, std::span(&mark, 1), ParamWords::log_mark));
  LAPILLI_ASSERT_VALUE(const auto run, run_search(bound, 4, 2, 2e11, mark));
  EXPECT_EQ(run.log.back()[LogLayout::mark], mark);
  const auto other = run_search(bound, 4, 2, 2e11, mark + 1);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::device_lost) << other.error().message;
}

// Measured once.
using DeviceRunnerTimes = DeviceRunner;
TEST_P(DeviceRunnerTimes, OfTheBundledModel) {
  LAPILLI_ASSERT_VALUE(const auto loaded, testing_support::load_network(LAPILLI_SOURCE_DIR "/models/en-fr"));
  SearchInput input;
  input.options.beams = 4;
  input.options.max_length = 17;
  input.options.min_length = 17;
  input.sources = {{463, 30, 16, 975, 23, 0}};
  same_logs(loaded.network, input, true);
}

INSTANTIATE_TEST_SUITE_P(Full, DeviceRunnerTimes, testing::Values("full"));
INSTANTIATE_TEST_SUITE_P(Masks, DeviceRunner, testing::Values("full", "floor", "no-indirect", "small-work"),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace lapilli
