// Bytes in use, trimming, pauses, a trace and a log of one device's own.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "api/last_error.hpp"
#include "lapilli/lapilli.h"
#include "support/temp_directory.hpp"

namespace {

using lapilli::test::says;

const char* const kModel = LAPILLI_SOURCE_DIR "/models/en-fr";

// Appended fields leave no padding.
static_assert(sizeof(lapilli_device_options) == offsetof(lapilli_device_options, memory_limit) + sizeof(uint64_t));
static_assert(sizeof(lapilli_device_usage) == offsetof(lapilli_device_usage, left_bytes) + sizeof(uint64_t));

TEST(ApiMemory, NullsAndSizesAreChecked) {
  lapilli_device_usage usage{};
  usage.struct_size = sizeof usage;
  EXPECT_EQ(lapilli_device_get_usage(nullptr, &usage), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("lapilli_device_get_usage: device is null"));
  EXPECT_EQ(lapilli_device_trim(nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_device_store_cache(nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_device_write_trace(nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_model_trim(nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("lapilli_model_trim: model is null"));
  EXPECT_EQ(lapilli_device_pause(nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_device_resume(nullptr), LAPILLI_INVALID_ARGUMENT);
}

TEST(ApiMemory, DefaultsNameNoLog) {
  const lapilli_device_options options = lapilli_default_device_options();
  EXPECT_EQ(options.log, nullptr);
  EXPECT_EQ(options.log_user, nullptr);
  EXPECT_EQ(options.log_level, LAPILLI_LOG_NOTE);
  EXPECT_EQ(options.trace_file, nullptr);
  EXPECT_EQ(options.gap_us, 0u);
  EXPECT_EQ(options.memory_limit, 0u);
}

// Its effect is tested in tests/vulkan and tests/generate.
TEST(ApiMemory, AGapIsAtMostASecond) {
  lapilli_device_options options = lapilli_default_device_options();
  options.gap_us = 1'000'001;
  lapilli_device* device = nullptr;
  EXPECT_EQ(lapilli_device_open(&options, &device), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(device, nullptr);
  EXPECT_TRUE(says("gap_us is 1000001"));
}

class ApiMemoryDevice : public testing::Test {
 protected:
  void SetUp() override { open(lapilli_default_device_options()); }
  void TearDown() override {
    lapilli_model_free(model_);
    lapilli_device_close(device_);
  }
  void open(const lapilli_device_options& options) {
    ASSERT_EQ(lapilli_device_open(&options, &device_), LAPILLI_OK) << lapilli_last_error();
  }
  void load() { ASSERT_EQ(lapilli_model_load(device_, kModel, &model_), LAPILLI_OK) << lapilli_last_error(); }
  [[nodiscard]] lapilli_device_usage usage() const {
    lapilli_device_usage usage{};
    usage.struct_size = sizeof usage;
    EXPECT_EQ(lapilli_device_get_usage(device_, &usage), LAPILLI_OK) << lapilli_last_error();
    return usage;
  }
  // The ids of some sentences; empty if the call fails, with its status.
  std::vector<std::vector<int32_t>> ids(lapilli_options options, lapilli_status* status = nullptr) const {
    const lapilli_input inputs[] = {lapilli_text("Where is the station?"), lapilli_text("The cat sleeps on the mat.")};
    lapilli_result* result = nullptr;
    const lapilli_status got = lapilli_generate(model_, inputs, 2, &options, &result);
    if (status) *status = got;
    std::vector<std::vector<int32_t>> all;
    for (size_t i = 0; got == LAPILLI_OK && i < 2; ++i) {
      lapilli_sequence best{};
      best.struct_size = sizeof best;
      EXPECT_EQ(lapilli_result_get(result, i, 0, &best), LAPILLI_OK) << lapilli_last_error();
      all.emplace_back(best.ids.ids, best.ids.ids + best.ids.count);
    }
    lapilli_result_free(result);
    return all;
  }

  lapilli_device* device_ = nullptr;
  lapilli_model* model_ = nullptr;
};

TEST_F(ApiMemoryDevice, ATraceIsWrittenWhereOneIsWanted) {
  EXPECT_EQ(lapilli_device_write_trace(device_), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("without a trace_file"));
  TearDown();
  device_ = nullptr;
  const lapilli::TempDirectory directory;
  const std::string path = directory.path() + "/trace.json";
  lapilli_device_options options = lapilli_default_device_options();
  options.trace_file = path.c_str();
  open(options);
  EXPECT_EQ(lapilli_device_write_trace(device_), LAPILLI_OK) << lapilli_last_error();
  std::ifstream from(path);
  EXPECT_EQ(nlohmann::json::parse(from).count("traceEvents"), 1u);
}

TEST_F(ApiMemoryDevice, AStructOfNoSizeIsRefused) {
  lapilli_device_usage usage{};
  EXPECT_EQ(lapilli_device_get_usage(device_, &usage), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("struct_size"));
  EXPECT_EQ(lapilli_device_get_usage(device_, nullptr), LAPILLI_INVALID_ARGUMENT);
}

// An older program knows the first fields only.
TEST_F(ApiMemoryDevice, AnEarlierStructIsFilledAsFarAsItGoes) {
  struct {
    uint32_t struct_size;
    int32_t paused;
    uint64_t held_bytes;
    uint64_t behind;
  } older{16, -1, 0, 77};
  ASSERT_EQ(lapilli_device_get_usage(device_, reinterpret_cast<lapilli_device_usage*>(&older)), LAPILLI_OK);
  EXPECT_EQ(older.struct_size, 16u);
  EXPECT_EQ(older.paused, 0);
  EXPECT_EQ(older.behind, 77u);
}

TEST_F(ApiMemoryDevice, TrimGivesBackWhatIsKeptAndChangesNoIds) {
  load();
  lapilli_model_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(lapilli_model_get_info(model_, &info), LAPILLI_OK);
  const auto loaded = usage();
  EXPECT_GE(loaded.weight_bytes, info.weight_bytes);
  EXPECT_GE(loaded.held_bytes, loaded.weight_bytes + loaded.session_bytes + loaded.transfer_bytes);
  const auto first = ids(lapilli_default_options());
  ASSERT_EQ(first.size(), 2u);
  const auto used = usage();
  EXPECT_GT(used.session_bytes, loaded.session_bytes);  // kept for the next call
  EXPECT_GT(used.transfer_bytes, 0u);
  for (const bool model_only : {true, false}) {
    ASSERT_EQ(model_only ? lapilli_model_trim(model_) : lapilli_device_trim(device_), LAPILLI_OK)
        << lapilli_last_error();
    const auto trimmed = usage();
    EXPECT_EQ(trimmed.session_bytes, 0u);
    EXPECT_EQ(trimmed.transfer_bytes, 0u);
    EXPECT_EQ(trimmed.weight_bytes, loaded.weight_bytes);
    EXPECT_LE(trimmed.held_bytes, used.held_bytes);
    EXPECT_GE(trimmed.peak_bytes, used.held_bytes);
    EXPECT_EQ(ids(lapilli_default_options()), first);
    EXPECT_GT(usage().session_bytes, 0u);
  }
  lapilli_model_free(model_);
  model_ = nullptr;
  ASSERT_EQ(lapilli_device_trim(device_), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(usage().held_bytes, 0u);
  EXPECT_GT(usage().peak_bytes, 0u);
}

TEST_F(ApiMemoryDevice, WhatIsBegunDuringAPauseIsRefused) {
  load();
  const auto first = ids(lapilli_default_options());
  ASSERT_EQ(lapilli_device_pause(device_), LAPILLI_OK) << lapilli_last_error();
  ASSERT_EQ(lapilli_device_pause(device_), LAPILLI_OK);  // twice is once
  EXPECT_EQ(usage().paused, 1);
  lapilli_status status = LAPILLI_OK;
  ids(lapilli_default_options(), &status);
  EXPECT_EQ(status, LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("paused")) << lapilli_last_error();
  lapilli_model* other = nullptr;
  EXPECT_EQ(lapilli_model_load(device_, kModel, &other), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(other, nullptr);
  EXPECT_EQ(lapilli_device_trim(device_), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(usage().session_bytes, 0u);
  ASSERT_EQ(lapilli_device_resume(device_), LAPILLI_OK);
  EXPECT_EQ(usage().paused, 0);
  EXPECT_EQ(ids(lapilli_default_options()), first);
}

TEST_F(ApiMemoryDevice, TrimGivesBackWhatWasPrepared) {
  load();
  lapilli_shape shape = lapilli_default_shape();
  shape.inputs = 2;
  ASSERT_EQ(lapilli_model_prepare(model_, &shape), LAPILLI_OK) << lapilli_last_error();
  EXPECT_GT(usage().session_bytes, 0u);
  ASSERT_EQ(lapilli_model_trim(model_), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(usage().session_bytes, 0u);
  EXPECT_EQ(ids(lapilli_default_options()).size(), 2u);
}

TEST_F(ApiMemoryDevice, APumpedJobStandsStillAndGoesOn) {
  load();
  const lapilli_input input = lapilli_text("Where is the station?");
  lapilli_job* job = nullptr;
  ASSERT_EQ(lapilli_job_start(model_, &input, 1, nullptr, &job), LAPILLI_OK) << lapilli_last_error();
  ASSERT_EQ(lapilli_device_pause(device_), LAPILLI_OK) << lapilli_last_error();
  int32_t finished = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(lapilli_job_pump(job, LAPILLI_UNLIMITED, &finished), LAPILLI_OK) << lapilli_last_error();
    ASSERT_EQ(finished, 0);
  }
  ASSERT_EQ(lapilli_device_resume(device_), LAPILLI_OK) << lapilli_last_error();
  ASSERT_EQ(lapilli_job_wait(job, LAPILLI_UNLIMITED, &finished), LAPILLI_OK) << lapilli_last_error();
  EXPECT_NE(finished, 0);
  lapilli_result* result = nullptr;
  EXPECT_EQ(lapilli_job_take(job, &result), LAPILLI_OK) << lapilli_last_error();
  lapilli_result_free(result);
  lapilli_job_free(job);
}

TEST_F(ApiMemoryDevice, ALoadingStandsStillAndIsCancelledInAPause) {
  lapilli_load* loading = nullptr;
  ASSERT_EQ(lapilli_load_start(device_, kModel, nullptr, &loading), LAPILLI_OK) << lapilli_last_error();
  ASSERT_EQ(lapilli_device_pause(device_), LAPILLI_OK) << lapilli_last_error();
  int32_t finished = 0;
  ASSERT_EQ(lapilli_load_pump(loading, LAPILLI_UNLIMITED, &finished), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(finished, 0);
  lapilli_load_cancel(loading);
  ASSERT_EQ(lapilli_load_pump(loading, LAPILLI_UNLIMITED, &finished), LAPILLI_OK) << lapilli_last_error();
  EXPECT_NE(finished, 0);
  EXPECT_EQ(lapilli_load_take(loading, &model_), LAPILLI_CANCELLED);
  lapilli_load_free(loading);
}

// A call that pauses its own device in the middle, and another thread that ends the pause.
struct Interrupted {
  lapilli_device* device = nullptr;
  std::atomic<int> events{0}, asked{0};
  std::atomic<bool> paused{false}, over{false};
};

int32_t pause_once(void* user, const lapilli_stream_event*) {
  auto& at = *static_cast<Interrupted*>(user);
  if (++at.events != 2) return 0;
  EXPECT_EQ(lapilli_device_pause(at.device), LAPILLI_OK) << lapilli_last_error();
  at.paused = true;
  return 0;
}

int32_t count_asked(void* user, uint64_t, uint64_t) {
  auto& at = *static_cast<Interrupted*>(user);
  if (at.paused) ++at.asked;
  return 0;
}

TEST_F(ApiMemoryDevice, ACallStandsStillAndGoesOnWithTheSameIds) {
  load();
  const auto first = ids(lapilli_default_options());
  Interrupted at;
  at.device = device_;
  lapilli_options options = lapilli_default_options();
  options.stream = pause_once;
  options.progress = count_asked;
  options.stream_user = options.progress_user = &at;
  std::thread waker([&] {
    // It is asked whether to go on, again and again, while nothing else happens.
    while (at.asked < 5 && !at.over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const int events = at.events;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(at.events, events);
    EXPECT_EQ(lapilli_device_resume(device_), LAPILLI_OK);
  });
  const auto second = ids(options);
  at.over = true;
  waker.join();
  EXPECT_EQ(second, first);
  EXPECT_GT(at.events, 2);
}

int32_t cancel_when_paused(void* user, uint64_t, uint64_t) { return static_cast<Interrupted*>(user)->paused ? 1 : 0; }

TEST_F(ApiMemoryDevice, ACallIsCancelledDuringAPause) {
  load();
  const auto first = ids(lapilli_default_options());
  Interrupted at;
  at.device = device_;
  lapilli_options options = lapilli_default_options();
  options.stream = pause_once;
  options.progress = cancel_when_paused;
  options.stream_user = options.progress_user = &at;
  options.steps_in_flight = 1;  // so that something is left when it pauses
  lapilli_status status = LAPILLI_OK;
  ids(options, &status);
  EXPECT_EQ(status, LAPILLI_CANCELLED);
  ASSERT_EQ(lapilli_device_resume(device_), LAPILLI_OK);
  EXPECT_EQ(ids(lapilli_default_options()), first);
}

struct Messages {
  std::vector<std::string> all;
  static void add(void* user, int32_t, const char* text) { static_cast<Messages*>(user)->all.emplace_back(text); }
};

TEST_F(ApiMemoryDevice, ADeviceHasALogOfItsOwn) {
  lapilli_device_close(device_);
  Messages own, common;
  lapilli_set_log(LAPILLI_LOG_VERBOSE, &Messages::add, &common);
  lapilli_device_options options = lapilli_default_device_options();
  options.log = &Messages::add;
  options.log_user = &own;
  options.log_level = LAPILLI_LOG_VERBOSE;
  open(options);
  load();
  const auto first = ids(lapilli_default_options());
  EXPECT_EQ(first.size(), 2u);
  EXPECT_TRUE(common.all.empty());
  const size_t said = own.all.size();
  EXPECT_GT(said, 0u);  // of its self-test
  // Another device's messages do not go there.
  lapilli_device* other = nullptr;
  lapilli_model* model = nullptr;
  ASSERT_EQ(lapilli_device_open(nullptr, &other), LAPILLI_OK) << lapilli_last_error();
  ASSERT_EQ(lapilli_model_load(other, kModel, &model), LAPILLI_OK) << lapilli_last_error();
  std::swap(model, model_);
  EXPECT_EQ(ids(lapilli_default_options()), first);
  std::swap(model, model_);
  lapilli_model_free(model);
  lapilli_device_close(other);
  EXPECT_EQ(own.all.size(), said);
  EXPECT_GT(common.all.size(), 0u);
  lapilli_set_log(LAPILLI_LOG_WARNING, nullptr, nullptr);
}

}  // namespace
