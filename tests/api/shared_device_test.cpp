// Several models on one device: what they share, and how long it lives. The C++ face is in shared_device_cpp_test.cpp,
// as names of lapilli.hpp and the library's own do not go into one file.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "api/handles.hpp"
#include "runtime/check/self_test.hpp"

namespace {

const char* const kTextModel = LAPILLI_SOURCE_DIR "/models/en-fr";
const char* const kT5Twin = LAPILLI_SOURCE_DIR "/tests/data/models/t5/model";

using SharedModel = std::unique_ptr<lapilli_model, void (*)(lapilli_model*)>;

SharedModel loaded(lapilli_device* device, const char* directory) {
  lapilli_model* model = nullptr;
  EXPECT_EQ(lapilli_model_load(device, directory, &model), LAPILLI_OK) << lapilli_last_error();
  return {model, &lapilli_model_free};
}

std::vector<int32_t> first_ids(const SharedModel& model, const lapilli_input& input) {
  lapilli_options options = lapilli_default_options();
  options.max_new_tokens = 16;
  lapilli_result* made = nullptr;
  EXPECT_EQ(lapilli_generate(model.get(), &input, 1, &options, &made), LAPILLI_OK) << lapilli_last_error();
  const std::unique_ptr<lapilli_result, void (*)(lapilli_result*)> result(made, &lapilli_result_free);
  lapilli_sequence best{};
  best.struct_size = sizeof best;
  EXPECT_EQ(lapilli_result_get(made, 0, 0, &best), LAPILLI_OK) << lapilli_last_error();
  return {best.ids.ids, best.ids.ids + best.ids.count};
}

// The cost of loading a model and of one call of it.
struct LoadCost {
  uint64_t pipelines = 0;
  size_t kernels = 0;  // tested
  int tests = 0;       // that the log speaks of
};

TEST(ApiDeviceShared, ASecondModelCompilesAndTestsNothing) {
  lapilli_device* handle = nullptr;
  ASSERT_EQ(lapilli_device_open(nullptr, &handle), LAPILLI_OK) << lapilli_last_error();
  const auto device = handle->device();
  const auto self_test = lapilli::SelfTest::of(*device);
  int tests = 0;
  lapilli_set_log(
      LAPILLI_LOG_VERBOSE,
      [](void* user, int32_t, const char* message) {
        if (std::strstr(message, "self-test: ")) ++*static_cast<int*>(user);
      },
      &tests);
  const lapilli_input input = lapilli_text("Where is the station?");
  const auto cost = [&](SharedModel& model) {
    const uint64_t pipelines = device->counters().pipelines_created;
    const size_t kernels = self_test->kernels();
    tests = 0;
    model = loaded(handle, kTextModel);
    EXPECT_EQ(first_ids(model, input), (std::vector<int32_t>{327, 31, 21, 1095, 11, 0}));
    return LoadCost{device->counters().pipelines_created - pipelines, self_test->kernels() - kernels, tests};
  };
  SharedModel first{nullptr, &lapilli_model_free}, second{nullptr, &lapilli_model_free};
  const LoadCost one = cost(first), two = cost(second);
  lapilli_set_log(LAPILLI_LOG_WARNING, nullptr, nullptr);
  EXPECT_GT(one.kernels, 10u);
  EXPECT_GE(one.pipelines, one.kernels);
  EXPECT_GT(one.tests, 0);
  EXPECT_EQ(two.kernels, 0u);
  EXPECT_EQ(two.pipelines, 0u);
  EXPECT_EQ(two.tests, 0);
  lapilli_device_close(handle);
}

TEST(ApiDeviceShared, LivesAsLongAsAModelDoes) {
  lapilli_device* handle = nullptr;
  ASSERT_EQ(lapilli_device_open(nullptr, &handle), LAPILLI_OK) << lapilli_last_error();
  const std::weak_ptr<lapilli::vulkan::Device> device = handle->device();
  SharedModel french = loaded(handle, kTextModel), tiny = loaded(handle, kT5Twin);  // of different families
  lapilli_device_close(handle);
  const int32_t source[] = {5, 6, 7, 1};
  const auto alone = first_ids(tiny, lapilli_tokens(source, 4));
  EXPECT_EQ(first_ids(french, lapilli_text("What time is it?")).back(), 0);
  EXPECT_EQ(first_ids(tiny, lapilli_tokens(source, 4)), alone);
  EXPECT_FALSE(device.expired());
  french.reset();
  EXPECT_FALSE(device.expired());
  EXPECT_EQ(first_ids(tiny, lapilli_tokens(source, 4)), alone);
  tiny.reset();
  EXPECT_TRUE(device.expired());
}

}  // namespace
