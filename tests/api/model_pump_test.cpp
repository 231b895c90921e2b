// One thread pumps all jobs of a model while others start, cancel, read and free them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/handles_that_free.hpp"
#include "api/last_error.hpp"
#include "lapilli/lapilli.h"

namespace {

using lapilli::test::JobHandle, lapilli::test::says;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr const char* kPumpedModel = LAPILLI_SOURCE_DIR "/models/en-fr";
constexpr uint64_t kMinuteUs = 60'000'000;

class ApiDeviceModelPump : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_EQ(lapilli_device_open(nullptr, &device_), LAPILLI_OK) << lapilli_last_error();
    ASSERT_EQ(lapilli_model_load(device_, kPumpedModel, &model_), LAPILLI_OK) << lapilli_last_error();
  }
  static void TearDownTestSuite() {
    lapilli_model_free(model_);
    lapilli_device_close(device_);
  }

  // Null after a failure.
  static JobHandle start(const std::string& text) {
    const lapilli_input input = lapilli_text_of(text.data(), text.size());
    lapilli_options options = lapilli_default_options();
    options.task = "translate";
    options.deterministic = 1;
    lapilli_job* job = nullptr;
    EXPECT_EQ(lapilli_job_start(model_, &input, 1, &options, &job), LAPILLI_OK) << lapilli_last_error();
    return JobHandle(job);
  }

  // The text of an ended job, or the name of its status.
  static std::string taken(const JobHandle& job) {
    lapilli_result* result = nullptr;
    const lapilli_status status = lapilli_job_take(job.get(), &result);
    lapilli_sequence best{};
    best.struct_size = sizeof best;
    const bool ok = status == LAPILLI_OK && lapilli_result_get(result, 0, 0, &best) == LAPILLI_OK;
    std::string text = ok ? std::string(best.text, best.text_bytes) : lapilli_status_name(status);
    lapilli_result_free(result);
    return text;
  }

  static size_t pump() {
    size_t running = 0;
    EXPECT_EQ(lapilli_model_pump(model_, LAPILLI_UNLIMITED, &running), LAPILLI_OK) << lapilli_last_error();
    return running;
  }

  static void pump_all() {
    while (pump() > 0) EXPECT_EQ(lapilli_model_wait(model_, kMinuteUs), LAPILLI_OK);
  }

  // How long a wait took during which `act` ran on another thread.
  template <class Act>
  static Clock::duration wait_while(Act act) {
    std::thread other([&] {
      std::this_thread::sleep_for(100ms);
      act();
    });
    const auto since = Clock::now();
    EXPECT_EQ(lapilli_model_wait(model_, kMinuteUs), LAPILLI_OK);
    const auto took = Clock::now() - since;
    other.join();
    return took;
  }

  static inline lapilli_device* device_ = nullptr;
  static inline lapilli_model* model_ = nullptr;
};

TEST_F(ApiDeviceModelPump, AllJobsComeToTheirEnd) {
  const std::vector<std::string> texts = {"Where is the station?", "Thank you.", "Good morning."};
  std::vector<JobHandle> jobs;
  for (const auto& text : texts) jobs.push_back(start(text));
  pump_all();
  std::vector<std::string> together;
  for (const JobHandle& job : jobs) together.push_back(taken(job));
  for (size_t i = 0; i < texts.size(); ++i) {
    const JobHandle alone = start(texts[i]);
    int32_t finished = 0;
    ASSERT_EQ(lapilli_job_wait(alone.get(), LAPILLI_UNLIMITED, &finished), LAPILLI_OK);
    EXPECT_EQ(taken(alone), together[i]);
  }
  EXPECT_EQ(pump(), 0u) << "they have ended";
}

TEST_F(ApiDeviceModelPump, AWaitWithoutJobsEndsByTime) {
  EXPECT_EQ(pump(), 0u);
  const auto since = Clock::now();
  EXPECT_EQ(lapilli_model_wait(model_, 50'000), LAPILLI_OK);
  EXPECT_GE(Clock::now() - since, 50ms);
  EXPECT_EQ(lapilli_model_wait(model_, 0), LAPILLI_OK);
}

TEST_F(ApiDeviceModelPump, ANewJobWakesAWait) {
  EXPECT_EQ(pump(), 0u);
  JobHandle job;
  EXPECT_LT(wait_while([&] { job = start("Thank you."); }), 30s);
  EXPECT_EQ(pump(), 1u);
  pump_all();
  EXPECT_EQ(taken(job), "Merci.");
}

// A change that comes between a pump and a wait is not missed.
TEST_F(ApiDeviceModelPump, AJobBeforeTheWaitEndsItAtOnce) {
  EXPECT_EQ(pump(), 0u);
  const JobHandle job = start("Thank you.");
  EXPECT_EQ(lapilli_model_wait(model_, kMinuteUs), LAPILLI_OK);
  pump_all();
}

TEST_F(ApiDeviceModelPump, ACancelWakesAWait) {
  const JobHandle ended = start("Thank you.");
  pump_all();
  EXPECT_LT(wait_while([&] { lapilli_job_cancel(ended.get()); }), 30s);
  const JobHandle job = start("Where is the station?");
  pump();
  lapilli_job_cancel(job.get());
  EXPECT_EQ(lapilli_model_wait(model_, kMinuteUs), LAPILLI_OK);
  pump_all();
  EXPECT_EQ(taken(job), lapilli_status_name(LAPILLI_CANCELLED));
}

TEST_F(ApiDeviceModelPump, FreedJobsAreLeftOut) {
  JobHandle job = start("Where is the station?");
  EXPECT_EQ(pump(), 1u);
  job.reset();
  EXPECT_EQ(pump(), 0u);
}

TEST_F(ApiDeviceModelPump, APausedDeviceDoesNotEndAWaitAllTheTime) {
  const JobHandle job = start("Thank you.");
  ASSERT_EQ(lapilli_device_pause(device_), LAPILLI_OK);
  EXPECT_EQ(pump(), 1u);
  const auto since = Clock::now();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(lapilli_model_wait(model_, kMinuteUs), LAPILLI_OK);
    EXPECT_EQ(pump(), 1u);
  }
  EXPECT_GE(Clock::now() - since, 40ms);
  ASSERT_EQ(lapilli_device_resume(device_), LAPILLI_OK);
  pump_all();
  EXPECT_EQ(taken(job), "Merci.");
}

// As a server does: each connection has a thread, which only starts jobs and waits for their ends.
TEST_F(ApiDeviceModelPump, ThreadsShareOneThatPumps) {
  std::atomic<bool> serving{true};
  std::thread pumping([&] {
    while (serving) {
      pump();
      EXPECT_EQ(lapilli_model_wait(model_, 20'000), LAPILLI_OK);
    }
  });
  std::atomic<int> done{0}, cancelled{0}, freed{0};
  std::vector<std::thread> connections;
  for (int c = 0; c < 4; ++c)
    connections.emplace_back([&, c] {
      for (int i = 0; i < 3; ++i) {
        JobHandle job = start("Thank you.");
        const int what = (c + i) % 3;
        if (what == 1) lapilli_job_cancel(job.get());
        if (what == 2) {
          job.reset();
          ++freed;
          continue;
        }
        int32_t finished = 0;
        while (!finished) ASSERT_EQ(lapilli_job_wait(job.get(), 5'000, &finished), LAPILLI_OK);
        lapilli_event event{};
        event.struct_size = sizeof event;
        int32_t has = 1, last = 0;
        while (lapilli_job_next_event(job.get(), &event, &has) == LAPILLI_OK && has) last = event.kind;
        EXPECT_EQ(last, LAPILLI_EVENT_END);
        const std::string text = taken(job);
        what == 1 ? ++cancelled : ++done;
        EXPECT_THAT(text, what == 1 ? testing::AnyOf("Merci.", lapilli_status_name(LAPILLI_CANCELLED))
                                    : testing::AnyOf("Merci.", "Merci."));
      }
    });
  for (auto& connection : connections) connection.join();
  serving = false;
  pumping.join();
  EXPECT_EQ(done, 4);
  EXPECT_EQ(cancelled, 4);
  EXPECT_EQ(freed, 4);
}

TEST(ApiModelPump, NullPointers) {
  size_t running = 7;
  EXPECT_EQ(lapilli_model_pump(nullptr, 0, &running), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("lapilli_model_pump: model is null"));
  EXPECT_EQ(running, 0u);
  EXPECT_EQ(lapilli_model_wait(nullptr, 0), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("lapilli_model_wait: model is null"));
}

}  // namespace
