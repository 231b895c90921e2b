// Steps in flight: the same log whatever the number of steps that a submission carries, and the same bits on a second
// replay in the same memory.
#include "runtime/run/runner.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cstdio>

#include "support/fixtures.hpp"
#include "support/network_rig.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using testing_support::SearchInput;

// A session with bound plans, ready for runs.
struct Bound {
  WorkspaceKey key;
  WorkspacePlans plans;
  std::unique_ptr<Session> session;
  std::unique_ptr<BoundPlan> admit, encode, start, step;
  uint32_t tick = 0;  // of the next step
};

struct BindRequest {
  const model::Network* network = nullptr;
  std::shared_ptr<const Weights> weights;
  SearchInput input;
  uint32_t repeats = 1;
  uint32_t log_ticks = 8;
  uint32_t first_tick = 0;
};

Result<Bound> bind_search(const std::shared_ptr<vulkan::Device>& device, const BindRequest& r) {
  Bound b;
  b.tick = r.first_tick;
  b.key = testing_support::exact_key(r.input);
  b.key.shape.log_ticks = r.log_ticks;
  LAPILLI_TRY(b.plans, testing_support::compile_plans(*r.network, b.key, device->caps()));
  LAPILLI_TRY(b.session, Session::create(device));
  for (const auto& plan : testing_support::in_order(b.plans)) b.session->require(*plan);
  LAPILLI_CHECK(b.session->allocate());
  const MemoryMap memory = b.session->memory([w = r.weights](graph::Space, uint32_t id) { return w->find(id); });
  const auto bind = [&](std::unique_ptr<BoundPlan>& to, const std::shared_ptr<const Plan>& plan,
                        uint32_t repeats) -> Status {
    LAPILLI_TRY(auto bound, BoundPlan::bind(device, plan, memory, {.repeats = repeats}));
    to = std::make_unique<BoundPlan>(std::move(bound));
    return {};
  };
  LAPILLI_CHECK(bind(b.admit, b.plans.admit, 1));
  LAPILLI_CHECK(bind(b.encode, b.plans.encode.front(), 1));
  LAPILLI_CHECK(bind(b.start, b.plans.start, 1));
  LAPILLI_CHECK(bind(b.step, b.plans.step, r.repeats));
  LAPILLI_CHECK(device->zero(*b.session->state(StateKind::log).buffer));
  for (auto& [id, words] : testing_support::host_states(*r.network, b.key, r.input, &b.plans)) {
    if (state_kind(id) == StateKind::step) {
      // All counters start there, as those of an engine's session may.
      for (const uint32_t counter : {state::STEP_TICK, state::STEP_STARTED, state::STEP_QUEUED})
        words[counter] = r.first_tick;
    }
    LAPILLI_CHECK(b.session->write(state_kind(id), words));
  }
  return b;
}

struct RunRequest {
  uint32_t steps_per_submit = 1, in_flight = 2;
  WorkLimit work{2e11};
  uint32_t log_mark = testing_support::kSessionMark;
  bool broken_steps = false;  // submits something that comes back without having written a log
};

// The words of the log: for each tick in which rows ran the header, then the rows' words; ticks are counted from the
// first one. The ring keeps older words where a tick has written none.
struct Run {
  std::vector<std::vector<uint32_t>> log;
  uint64_t submissions = 0;
  uint32_t ticks = 0;  // also those behind the end
  double ms = 0;
};

std::vector<uint32_t> written_words(std::span<const uint32_t> row, uint32_t beams, uint32_t first_tick) {
  const uint32_t ran = row[state::LOG_RAN];
  std::vector<uint32_t> words(row.begin(), row.begin() + static_cast<ptrdiff_t>(state::log_stride(ran)));
  words[state::LOG_TICK] -= first_tick;
  for (uint32_t r = 0; r < ran; ++r) {
    const auto entry = [&](uint32_t of) { return words.begin() + static_cast<ptrdiff_t>(state::log_entry_at(of)); };
    if (entry(r - r % beams)[state::LOG_NOTE] & state::LOG_NOTE_ENDED) continue;
    std::fill_n(entry(r) + state::LOG_FINISHED, state::FINISHED_WORDS, 0u);
  }
  return words;
}

// A whole search, from the admission on; the session's tick moves on.
Result<Run> run_search(Bound& b, const RunRequest& r) {
  RunnerOptions o;
  o.steps_per_submit = r.steps_per_submit;
  o.submits_in_flight = r.in_flight;
  o.log_stride = state::log_stride(b.key.shape.rows());
  o.log_ticks = b.key.shape.log_ticks;
  o.log_mark = r.log_mark;
  o.first_tick = b.tick;
  o.work = r.work;
  StepRunner runner(*b.session, o);
  Run run;
  uint64_t completed = 0, named = 1;
  bool ended = false;
  auto begin = std::chrono::steady_clock::now();
  runner.on_complete = [&](uint64_t name) {
    EXPECT_EQ(name, ++completed) << "not in order";
    if (name == 1) {
      EXPECT_EQ(run.ticks, 0u) << "what came before the steps is told as complete behind them";
      begin = std::chrono::steady_clock::now();
    }
    return Status();
  };
  runner.on_step = [&](std::span<const uint32_t> row) {
    ++run.ticks;
    EXPECT_EQ(row[state::LOG_TICK], b.tick + run.ticks - 1);
    if (row[state::LOG_RAN] > 0) run.log.push_back(written_words(row, b.key.shape.beams, b.tick));
    ended = row[state::LOG_LIVE] == 0;
    return run.ticks < 1000 ? Status() : fail(ErrorCode::internal, "the search does not end");
  };
  for (const auto& plan : {b.admit.get(), b.encode.get(), b.start.get()}) runner.append(*plan);
  runner.name_last(named++);
  LAPILLI_CHECK(runner.submit());
  do {
    while (runner.wants_more() && !ended) {
      runner.append_steps(r.broken_steps ? *b.start : *b.step);
      runner.name_last(named++);
      LAPILLI_CHECK(runner.submit());
    }
    LAPILLI_CHECK(runner.submit());
    if (const auto oldest = runner.oldest()) LAPILLI_CHECK(b.session->device()->wait(*oldest));
    LAPILLI_CHECK(runner.poll());
  } while (!runner.idle() || !ended);
  EXPECT_EQ(completed + 1, named);
  EXPECT_EQ(runner.tick(), b.tick + run.ticks);
  b.tick = runner.tick();
  run.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  run.submissions = runner.submissions();
  return run;
}

class DeviceRunner : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    vulkan::DeviceOptions options;
    options.mask = GetParam();
    options.max_submit_us = 1'000'000'000;  // what is counted does not depend on how busy the machine is
    LAPILLI_ASSERT_VALUE(device_, testing_support::shared_device(options));
  }
  void same_logs(const model::Network& network, SearchInput input, bool print) {
    input.options.decoder_start = input.options.pad = static_cast<int32_t>(network.config.target_vocabulary) - 1;
    input.options.end_ids = {0};
    input.options.forced_eos = {0};
    LAPILLI_ASSERT_VALUE(const auto sources, weight_sources(network));
    LAPILLI_ASSERT_VALUE(const auto weights, Weights::load(device_, sources));
    std::vector<std::vector<uint32_t>> first;
    const bool small = std::string(GetParam()) == "small-work";
    const auto limit = WorkLimit::of(device_->caps());
    size_t segments = 0;  // of a step: several where the finest are small, and these are not recorded several times
    for (const uint32_t steps : {1u, 2u, 4u, 8u}) {
      // Steps of one submission: in one recording, or the recording several times.
      for (const uint32_t repeats : {1u, steps}) {
        // Where submissions are small a recording holds one step, or a part of one.
        if (repeats > 1 && (small || segments > 1)) break;
        const BindRequest request{&network, weights, input, repeats, ticks_for(steps, 3)};
        LAPILLI_ASSERT_VALUE(auto bound, bind_search(device_, request));
        segments = bound.step->segments().size();
        LAPILLI_ASSERT_VALUE(const auto run, run_search(bound, {steps, 2, limit}));
        ASSERT_GT(run.log.size(), 3u);
        EXPECT_EQ(run.log.back()[state::LOG_LIVE], 0u) << "the search has not ended";
        if (first.empty()) first = run.log;
        EXPECT_TRUE(run.log == first) << steps << " steps a submission";
        // No more than what was in flight when the end came to be known.
        EXPECT_LT(run.ticks, run.log.size() + 2 * steps) << steps << " steps a submission";
        const uint64_t unbounded = 1 + div_up(run.ticks, steps);
        if (!small) {
          EXPECT_EQ(run.submissions, unbounded) << steps << " steps a submission";
        } else if (steps == 8) {
          EXPECT_GT(run.submissions, unbounded);
        }
        // In the same memory once more, and with another number of submissions in flight.
        LAPILLI_ASSERT_VALUE(const auto again, run_search(bound, {steps, 3, limit}));
        EXPECT_TRUE(again.log == first) << steps << " steps a submission, again";
        if (print)
          std::printf("%s: S = %u (%u a recording): %zu steps, %.2f ms a step, again %.2f\n", GetParam(), steps,
                      repeats, run.log.size(), run.ms / static_cast<double>(run.log.size()),
                      again.ms / static_cast<double>(run.log.size()));
        if (steps == 1) break;
      }
    }
  }
  // Rows of a log for so many ticks in flight.
  static uint32_t ticks_for(uint32_t steps, uint32_t in_flight) { return std::bit_ceil(steps * in_flight); }
  // A network, its weights on the device, and a search of three sentences.
  void load_tiny(uint32_t beams) {
    LAPILLI_ASSERT_VALUE(loaded_, testing_support::make_network("tiny"));
    LAPILLI_ASSERT_VALUE(const auto sources, weight_sources(loaded_.network));
    LAPILLI_ASSERT_VALUE(weights_, Weights::load(device_, sources));
    input_.options.beams = beams;
    input_.options.max_length = 22;
    input_.options.decoder_start = input_.options.pad = 256;
    input_.options.end_ids = input_.options.forced_eos = {0};
    input_.sources = testing_support::random_sources({7, 12, 3}, 257, 5);
  }
  testing_support::LoadedNetwork loaded_;
  std::shared_ptr<const Weights> weights_;
  SearchInput input_;
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

// The tick wraps, and the log begins anew many times over: neither shows.
TEST_P(DeviceRunner, TheTickWrapsAndTheLogGoesRound) {
  for (const uint32_t beams : {1u, 4u}) {
    ASSERT_NO_FATAL_FAILURE(load_tiny(beams));
    const auto limit = WorkLimit::of(device_->caps());
    LAPILLI_ASSERT_VALUE(auto fresh, bind_search(device_, {&loaded_.network, weights_, input_, 1, 64}));
    LAPILLI_ASSERT_VALUE(const auto want, run_search(fresh, {1, 2, limit}));
    ASSERT_GT(want.log.size(), 3u);
    for (const uint32_t log_ticks : {8u, 16u}) {
      constexpr uint32_t first_tick = 0u - 100;
      const BindRequest request{&loaded_.network, weights_, input_, 1, log_ticks, first_tick};
      LAPILLI_ASSERT_VALUE(auto bound, bind_search(device_, request));
      // As many ticks in flight as the log has rows.
      while (bound.tick >= first_tick || bound.tick < 100) {
        LAPILLI_ASSERT_VALUE(const auto run, run_search(bound, {log_ticks / 2, 2, limit}));
        ASSERT_TRUE(run.log == want.log) << "up to tick " << bound.tick << " with a log of " << log_ticks;
      }
      EXPECT_GT(bound.tick - first_tick, 10 * log_ticks);
    }
  }
}

// Rows that another session left in the same memory are not taken for this one's.
TEST_P(DeviceRunner, OlderLogsAreNotRead) {
  ASSERT_NO_FATAL_FAILURE(load_tiny(1));
  LAPILLI_ASSERT_VALUE(auto bound, bind_search(device_, {&loaded_.network, weights_, input_}));
  LAPILLI_ASSERT_VALUE(const auto run, run_search(bound, {4, 2}));
  EXPECT_EQ(run.log.back()[state::LOG_MARK], testing_support::kSessionMark);
  const auto other = run_search(bound, {4, 2, WorkLimit(2e11), testing_support::kSessionMark + 1});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::device_lost) << other.error().message;
}

// A device that has stopped reports as done what it never ran. The log then has nothing yet, or what the session wrote
// a lap earlier.
TEST_P(DeviceRunner, StepsThatDidNotRunAreNoticed) {
  ASSERT_NO_FATAL_FAILURE(load_tiny(1));
  LAPILLI_ASSERT_VALUE(auto bound, bind_search(device_, {&loaded_.network, weights_, input_}));
  const auto expect_lost = [&] {
    const auto broken = run_search(bound, {.steps_per_submit = 4, .broken_steps = true});
    ASSERT_FALSE(broken.ok());
    EXPECT_EQ(broken.error().code, ErrorCode::device_lost) << broken.error().message;
    EXPECT_TRUE(broken.error().message.starts_with("step 0 was reported as done")) << broken.error().message;
  };
  expect_lost();
  LAPILLI_ASSERT_VALUE(const auto run, run_search(bound, {4, 2}));
  EXPECT_GT(run.ticks, bound.key.shape.log_ticks);
  expect_lost();
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
