// How loading, the self-test and searches hand work to a device: with gaps that are asked for, and in a host's frames.
#include <gmock/gmock.h>

#include <thread>

#include "generate/model_loading.hpp"
#include "generate/searches.hpp"
#include "support/fake_time.hpp"
#include "support/host_device.hpp"

namespace lapilli {
namespace {

using namespace testing_support;
using std::chrono::microseconds;

constexpr uint32_t kGapUs = 5000;

class DeviceSubmissions : public testing::Test {
 protected:
  void TearDown() override {
    device_.reset();
    counting::reset();
  }
  void open(uint32_t gap_us) {
    vulkan::DeviceOptions options;
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    options.gap_us = gap_us;
    options.gap_time = time_.source();
    LAPILLI_ASSERT_VALUE(device_, vulkan::Device::create(options));
  }
  // Frames of 1,000 us by the test's clock, until it has ended: a gap between any two submissions, and no sleep.
  void pump_through(const std::function<bool()>& pump) {
    const uint64_t sleeps = time_.sleeps;
    auto last = time_.now;
    bool first = true;
    for (bool ended = false; !ended; time_.now += microseconds(1000)) {
      const auto before = counting::calls();
      ended = pump();
      const uint64_t submitted = counting::submits(counting::since(before));
      ASSERT_LE(submitted, 1u);
      if (submitted && !std::exchange(first, false)) {
        EXPECT_GE(time_.now - last, microseconds(kGapUs));
      }
      if (submitted) last = time_.now;
      std::this_thread::sleep_for(microseconds(50));  // the device's work is real
    }
    EXPECT_EQ(time_.sleeps, sleeps);
    EXPECT_FALSE(first);
  }
  FakeTime time_;
  std::shared_ptr<vulkan::Device> device_;
};

TEST_F(DeviceSubmissions, PumpsLeaveGapsAndNeverSleep) {
  open(kGapUs);
  ModelLoading loading(device_, marian(), {});
  pump_through([&] { return loading.pump(); });
  LAPILLI_ASSERT_VALUE(const auto model, loading.take());
  for (const uint32_t beams : {1u, 3u}) {
    LAPILLI_ASSERT_VALUE(auto search, Search::start(model, request_of({7, 5, 9}, beams, 8)));
    pump_through([&] { return search->pump(); });
    LAPILLI_ASSERT_VALUE(const auto pumped, search->take());
    // A caller that waits sleeps for the submissions, and gets the same results.
    const uint64_t sleeps = time_.sleeps;
    LAPILLI_ASSERT_VALUE(const auto waited, run_search(model, request_of({7, 5, 9}, beams, 8)));
    EXPECT_GT(time_.sleeps, sleeps);
    EXPECT_EQ(bits_of(pumped), bits_of(waited));
  }
}

TEST_F(DeviceSubmissions, WithoutGapsNobodySleeps) {
  open(0);
  LAPILLI_ASSERT_VALUE(const auto model, Model::load(device_, marian()));
  LAPILLI_ASSERT_OK(run_search(model, request_of({7, 5}, 3, 8)));
  EXPECT_EQ(time_.sleeps, 0u);
}

// The pace covers the work of loading and of the self-test, too: a frame has as much of it as its budget holds.
TEST_F(DeviceSubmissions, AHostsFramesTakeSeveralPiecesOfALoad) {
  const auto host = counting::HostDevice::create({});
  ASSERT_NE(host, nullptr);
  auto handles = host->handles();
  handles.append = true;
  LAPILLI_ASSERT_VALUE(device_, vulkan::Device::adopt(handles, {}));
  ModelLoading loading(device_, marian(), {});
  uint32_t most = 0;
  while (!loading.pump()) {
    vulkan::Appended appended;
    EXPECT_EQ(host->frame([&](VkCommandBuffer into) {
      auto taken = device_->append(into, 1'000'000);
      EXPECT_TRUE(taken.ok());
      if (taken) appended = *taken;
    }),
              VK_SUCCESS);
    if (appended.submissions) {
      EXPECT_GT(appended.expected_us, 0);
    }
    if (appended.serial) LAPILLI_ASSERT_OK(device_->completed(appended.serial));
    most = std::max(most, appended.submissions);
  }
  LAPILLI_EXPECT_OK(loading.take());
  EXPECT_GT(most, 1u);
  device_.reset();  // the host's goes last
}

}  // namespace
}  // namespace lapilli
