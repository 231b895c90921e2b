// lapilli_model_tune: what it refuses, what it keeps and tells, and how it ends early. Which candidates win is the
// machine's, and matters to no test.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>

#include "api/last_error.hpp"
#include "lapilli/lapilli.hpp"
#include "support/temp_directory.hpp"

namespace {

using lapilli::test::says;

namespace fs = std::filesystem;

const char* const kTunedModel = LAPILLI_SOURCE_DIR "/models/en-fr";

// Appended fields leave no padding.
static_assert(sizeof(lapilli_tuning) == offsetof(lapilli_tuning, encode_ratio) + sizeof(double));

lapilli_tuning empty_tuning() {
  lapilli_tuning found{};
  found.struct_size = sizeof found;
  return found;
}

TEST(ApiTune, WantsAModel) {
  EXPECT_EQ(lapilli_model_tune(nullptr, nullptr, 1, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("lapilli_model_tune: model is null"));
}

class ApiTuneDevice : public testing::Test {
 protected:
  void SetUp() override { open(folder_.path().c_str(), kTunedModel); }
  void TearDown() override { close(); }
  void open(const char* folder, const char* model) {
    lapilli_device_options options = lapilli_default_device_options();
    options.cache_directory = folder;
    ASSERT_EQ(lapilli_device_open(&options, &device_), LAPILLI_OK) << lapilli_last_error();
    ASSERT_EQ(lapilli_model_load(device_, model, &model_), LAPILLI_OK) << lapilli_last_error();
  }
  void close() {
    lapilli_model_free(model_);
    lapilli_device_close(device_);
    model_ = nullptr;
    device_ = nullptr;
  }
  std::string translated() const {
    const lapilli_input input = lapilli_text("Where is the station?");
    lapilli_options options = lapilli_default_options();
    options.task = "translate";
    lapilli_result* result = nullptr;
    EXPECT_EQ(lapilli_generate(model_, &input, 1, &options, &result), LAPILLI_OK) << lapilli_last_error();
    lapilli_sequence best{};
    best.struct_size = sizeof best;
    EXPECT_EQ(lapilli_result_get(result, 0, 0, &best), LAPILLI_OK);
    const std::string text = best.text ? best.text : "";
    lapilli_result_free(result);
    return text;
  }
  [[nodiscard]] bool has_tunings() const {
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path(), none))
      if (entry.path().filename().string().starts_with("tunings-")) return true;
    return false;
  }
  lapilli::TempDirectory folder_;
  lapilli_device* device_ = nullptr;
  lapilli_model* model_ = nullptr;
};

TEST_F(ApiTuneDevice, RefusesWhatCannotBe) {
  lapilli_tuning found{};
  EXPECT_EQ(lapilli_model_tune(model_, nullptr, 1, &found), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("lapilli_tuning.struct_size is 0")) << lapilli_last_error();
  for (const double seconds : {-1.0, 1e9, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    EXPECT_EQ(lapilli_model_tune(model_, nullptr, seconds, nullptr), LAPILLI_INVALID_ARGUMENT);
    EXPECT_TRUE(says("seconds are not between")) << lapilli_last_error();
  }
  lapilli_options options = lapilli_default_options();
  lapilli_shape shape = lapilli_default_shape();
  shape.options = &options;
  options.num_beams = 0;
  EXPECT_EQ(lapilli_model_tune(model_, &shape, 1, nullptr), LAPILLI_INVALID_ARGUMENT);
  options.num_beams = 1;
  shape.inputs = 1u << 20;
  EXPECT_EQ(lapilli_model_tune(model_, &shape, 1, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("batch 1048576")) << lapilli_last_error();
  shape.inputs = 1;
  shape.source_tokens = 4000000000u;
  EXPECT_EQ(lapilli_model_tune(model_, &shape, 1, nullptr), LAPILLI_INVALID_ARGUMENT);
  ASSERT_EQ(lapilli_device_pause(device_), LAPILLI_OK);
  EXPECT_EQ(lapilli_model_tune(model_, nullptr, 1, nullptr), LAPILLI_INVALID_ARGUMENT);
  ASSERT_EQ(lapilli_device_resume(device_), LAPILLI_OK);
  EXPECT_FALSE(has_tunings());
}

TEST_F(ApiTuneDevice, WithoutAPlaceToKeepThingsItSaysSo) {
  close();
  open(nullptr, kTunedModel);
  EXPECT_EQ(lapilli_model_tune(model_, nullptr, 1, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("keeps nothing between runs")) << lapilli_last_error();
}

TEST_F(ApiTuneDevice, WhatItFindsIsKeptAndChangesNoText) {
  const std::string before = translated();
  EXPECT_EQ(before, "Où est la gare ?");
  lapilli_tuning found = empty_tuning();
  ASSERT_EQ(lapilli_model_tune(model_, nullptr, 4, &found), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(found.struct_size, sizeof found);
  EXPECT_GT(found.step_ratio, 0);
  EXPECT_LE(found.step_ratio, 1.1);
  EXPECT_GT(found.encode_ratio, 0);
  EXPECT_EQ(has_tunings(), found.choices > 0);
  EXPECT_EQ(translated(), before);
  close();
  open(folder_.path().c_str(), kTunedModel);
  EXPECT_EQ(translated(), before);
  // No time: nothing is tried, and what was kept stays.
  lapilli_tuning again = empty_tuning();
  ASSERT_EQ(lapilli_model_tune(model_, nullptr, 0, &again), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(again.choices, found.choices);
  EXPECT_EQ(again.complete, 0);
  EXPECT_EQ(again.step_ratio, 1);
}

TEST_F(ApiTuneDevice, CancelledItEndsSoon) {
  const lapilli::CancelToken token;
  token.cancel();
  lapilli_options options = lapilli_default_options();
  options.cancel_token = token.handle();
  lapilli_shape shape = lapilli_default_shape();
  shape.options = &options;
  lapilli_tuning found = empty_tuning();
  EXPECT_EQ(lapilli_model_tune(model_, &shape, 3600, &found), LAPILLI_CANCELLED);
  EXPECT_TRUE(says("what was found is kept")) << lapilli_last_error();
  EXPECT_EQ(found.complete, 0);
}

TEST_F(ApiTuneDevice, ProgressIsToldTheTimeAndMayCancel) {
  struct Seen {
    uint64_t calls = 0, done = 0, total = 0;
  } seen;
  lapilli_options options = lapilli_default_options();
  options.progress_user = &seen;
  options.progress = [](void* user, uint64_t done, uint64_t total) -> int32_t {
    auto& s = *static_cast<Seen*>(user);
    EXPECT_GE(done, s.done);
    s.done = done;
    s.total = total;
    return ++s.calls == 3;
  };
  lapilli_shape shape = lapilli_default_shape();
  shape.options = &options;
  EXPECT_EQ(lapilli_model_tune(model_, &shape, 60, nullptr), LAPILLI_CANCELLED);
  EXPECT_EQ(seen.calls, 3u);
  EXPECT_EQ(seen.total, 60000u);
}

TEST_F(ApiTuneDevice, AnEncoderAloneIsNotTuned) {
  close();
  open(folder_.path().c_str(), LAPILLI_SOURCE_DIR "/tests/data/models/vit-image-classification/model");
  EXPECT_EQ(lapilli_model_tune(model_, nullptr, 1, nullptr), LAPILLI_UNSUPPORTED);
  EXPECT_TRUE(says("an encoder alone")) << lapilli_last_error();
}

TEST_F(ApiTuneDevice, InCpp) {
  auto device = lapilli::Device::open([&] {
    lapilli::DeviceOptions options;
    options.cache_directory = folder_.path();
    return options;
  }());
  ASSERT_TRUE(device) << device.error().message();
  auto model = lapilli::Model::load(*device, kTunedModel);
  ASSERT_TRUE(model) << model.error().message();
  auto found = model->tune({}, 0);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->complete, 0);
  EXPECT_FALSE(model->tune({}, -1));
}

}  // namespace
