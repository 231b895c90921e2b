// The cost of a pump for the thread that calls it, apart from the driver's submit: by the clock of that thread alone,
// so that other load on the machine matters little.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <thread>

#include "generate/searches.hpp"
#include "support/host_device.hpp"

#ifdef CLOCK_THREAD_CPUTIME_ID

namespace lapilli {
namespace {

using namespace testing_support;

constexpr double kMostUs = 300;
constexpr uint64_t kFrameBudgetUs = 1000;

double thread_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

class DevicePumpCost : public testing::Test {
 protected:
  void SetUp() override {
    host_ = counting::HostDevice::create({.features = true});
    ASSERT_NE(host_, nullptr);
    auto handles = host_->handles();
    handles.submit = [this](const vulkan::SubmitRequest& request) {
      const double begin = thread_us();
      const VkResult result = host_->submit(request.info, request.fence);
      driver_us_ += thread_us() - begin;
      vulkan::submission_done(request.submission, result);
    };
    LAPILLI_ASSERT_VALUE(const auto device, vulkan::Device::adopt(handles, {}));
    LAPILLI_ASSERT_VALUE(model_, Model::load(device, LAPILLI_SOURCE_DIR "/models/en-fr"));
  }
  // From the start to the end of a search.
  void pump_through(const GenerateRequest& request) {
    LAPILLI_ASSERT_VALUE(auto search, Search::start(model_, request));
    for (bool ended = false; !ended;) {
      driver_us_ = 0;
      const double begin = thread_us();
      ended = search->pump(kFrameBudgetUs);
      costs_.push_back(thread_us() - begin - driver_us_);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    LAPILLI_ASSERT_OK(search->take());
  }
  std::unique_ptr<counting::HostDevice> host_;
  std::shared_ptr<Model> model_;
  double driver_us_ = 0;
  std::vector<double> costs_;
};

TEST_F(DevicePumpCost, IsSmallButForTheDriversSubmit) {
  const GenerateRequest request = request_of({12, 20, 7, 16}, 4, 60);
  LAPILLI_ASSERT_OK(run_search(model_, request));  // pipelines, self-test, session
  for (int i = 0; i < 1000 && costs_.size() < 1000; ++i) pump_through(request);
  ASSERT_GE(costs_.size(), 1000u);
  std::sort(costs_.begin(), costs_.end());
  const double p99 = costs_[costs_.size() * 99 / 100];
  std::printf("a pump: %.0f us at the median, %.0f at p99, %.0f at most, of %zu\n", costs_[costs_.size() / 2], p99,
              costs_.back(), costs_.size());
  EXPECT_LT(p99, kMostUs);
}

}  // namespace
}  // namespace lapilli

#endif
