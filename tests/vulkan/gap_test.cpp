// Gaps between submissions, by a clock of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/counting_vulkan.hpp"
#include "support/fake_time.hpp"
#include "support/fixtures.hpp"
#include "vulkan/work.hpp"

namespace lapilli::vulkan {
namespace {

using std::chrono::microseconds;
using testing::HasSubstr;

class DeviceGap : public testing::Test {
 protected:
  void SetUp() override { counting::reset(); }
  void TearDown() override {
    device_.reset();
    counting::reset();
  }
  void open(uint32_t gap_us) {
    DeviceOptions options;
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    options.gap_us = gap_us;
    options.gap_time = time_.source();
    LAPILLI_ASSERT_VALUE(device_, Device::create(options));
  }
  // An empty recording.
  Result<Ticket> submit() {
    LAPILLI_TRY(auto recording, CommandRecording::create(device_));
    LAPILLI_CHECK(recording.begin());
    LAPILLI_CHECK(recording.end());
    const CommandRecording* list[] = {&recording};
    return device_->submit(list);
  }
  bool may() {
    const auto may = device_->may_submit();
    EXPECT_TRUE(may.ok());
    return may.ok() && *may;
  }
  testing_support::FakeTime time_;
  std::shared_ptr<Device> device_;
};

TEST_F(DeviceGap, IsLeftBehindWhatIsDone) {
  open(5000);
  EXPECT_TRUE(may());  // nothing came before
  for (int i = 0; i < 3; ++i) {
    LAPILLI_ASSERT_VALUE(const Ticket ticket, submit());
    LAPILLI_ASSERT_OK(device_->wait(ticket));
    EXPECT_FALSE(may());
    time_.now += microseconds(4999);
    EXPECT_FALSE(may());
    time_.now += microseconds(1);
    EXPECT_TRUE(may());
    EXPECT_TRUE(may());
  }
  EXPECT_EQ(time_.sleeps, 0u);
}

TEST_F(DeviceGap, BeginsWhenTheWorkIsDone) {
  open(5000);
  counting::freeze_progress(true);
  LAPILLI_ASSERT_OK(submit());
  EXPECT_FALSE(may());
  time_.now += std::chrono::hours(1);
  EXPECT_FALSE(may());
  counting::freeze_progress(false);
  EXPECT_TRUE(device_->settle());
  EXPECT_FALSE(may());
  time_.now += microseconds(5000);
  EXPECT_TRUE(may());
}

TEST_F(DeviceGap, WhoMayWaitWaits) {
  open(5000);
  LAPILLI_ASSERT_OK(device_->wait_for_gap());
  EXPECT_EQ(time_.sleeps, 0u);
  LAPILLI_ASSERT_OK(submit());
  const auto before = time_.now;
  LAPILLI_ASSERT_OK(device_->wait_for_gap());
  EXPECT_EQ(time_.sleeps, 1u);
  EXPECT_EQ(time_.now - before, microseconds(5000));
  EXPECT_TRUE(may());
}

TEST_F(DeviceGap, IsNoneUnlessAsked) {
  open(0);
  counting::freeze_progress(true);
  LAPILLI_ASSERT_OK(submit());
  EXPECT_TRUE(may());
  LAPILLI_EXPECT_OK(device_->wait_for_gap());
  EXPECT_EQ(time_.sleeps, 0u);
  counting::freeze_progress(false);
  EXPECT_TRUE(device_->settle());
}

TEST_F(DeviceGap, IsAtMostASecond) {
  DeviceOptions options;
  options.gap_us = 1'000'001;
  const auto refused = Device::create(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().message, HasSubstr("gap_us"));
  const auto adopted = Device::adopt({}, options);
  ASSERT_FALSE(adopted.ok());
  EXPECT_THAT(adopted.error().message, HasSubstr("gap_us"));
}

}  // namespace
}  // namespace lapilli::vulkan
