// Pipelines from several threads: who compiles stands in the way of nobody but those who want the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "support/counting_vulkan.hpp"
#include "support/fixtures.hpp"
#include "vulkan/affine.spv.h"

namespace lapilli::vulkan {
namespace {

class DevicePipelines : public testing::Test {
 protected:
  void SetUp() override {
    counting::reset();
    DeviceOptions options;
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    LAPILLI_ASSERT_VALUE(device_, Device::create(options));
    // The first to compile waits until it is let go.
    counting::before_compiling([this] {
      if (compiling_++ != 0) return;
      begun_.set_value();
      go_.get_future().wait();
    });
  }
  void TearDown() override { counting::before_compiling({}); }

  using Pipelines = Result<std::vector<const Pipeline*>>;
  Pipelines get(const std::vector<uint32_t>& constants) {
    std::vector<PipelineRequest> requests;
    for (const uint32_t c : constants) requests.push_back({spv_affine, std::size(spv_affine), "affine", {c, 1}});
    return device_->pipelines(requests);
  }
  std::future<Pipelines> beside(const std::vector<uint32_t>& constants) {
    return std::async(std::launch::async, [this, constants] { return get(constants); });
  }
  // The same, from when it compiles.
  std::future<Pipelines> held(const std::vector<uint32_t>& constants) {
    auto result = beside(constants);
    begun_.get_future().wait();
    return result;
  }
  std::shared_ptr<Device> device_;
  std::atomic<uint32_t> compiling_{0};
  std::promise<void> begun_, go_;
};

TEST_F(DevicePipelines, OthersAreMadeMeanwhile) {
  auto first = held({1, 2});
  LAPILLI_EXPECT_OK(get({3, 4}));
  LAPILLI_EXPECT_OK(get({3}));
  EXPECT_EQ(compiling_, 2u);
  go_.set_value();
  LAPILLI_EXPECT_OK(first.get());
  EXPECT_EQ(device_->counters().pipelines_created, 4u);
}

TEST_F(DevicePipelines, TheSameIsMadeOnce) {
  auto first = held({1, 2});
  // The other pipelines that it needs are made before it waits.
  auto second = beside({2, 3, 1});
  while (device_->counters().pipelines_created < 1) std::this_thread::yield();
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  go_.set_value();
  LAPILLI_ASSERT_VALUE(const auto a, first.get());
  LAPILLI_ASSERT_VALUE(const auto b, second.get());
  EXPECT_EQ(a[0], b[2]);
  EXPECT_EQ(a[1], b[0]);
  EXPECT_EQ(device_->counters().pipelines_created, 3u);
  EXPECT_EQ(compiling_, 2u);
}

// A thread that waits makes the pipeline that the other one could not make.
TEST_F(DevicePipelines, AFailureIsNotTheOthers) {
  counting::fail("vkCreateComputePipelines", VK_ERROR_OUT_OF_DEVICE_MEMORY);  // the batch: each is tried alone
  auto first = held({1, 2});
  auto second = beside({2});
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  counting::fail("vkCreateComputePipelines", VK_ERROR_OUT_OF_DEVICE_MEMORY);  // the second of the first thread
  go_.set_value();
  const auto failed = first.get();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, ErrorCode::out_of_memory);
  LAPILLI_EXPECT_OK(second.get());
  EXPECT_EQ(device_->counters().pipelines_created, 2u);
}

}  // namespace
}  // namespace lapilli::vulkan
