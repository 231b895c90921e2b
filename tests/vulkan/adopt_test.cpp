// A device that the host made and keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "support/counting_vulkan.hpp"
#include "support/fixtures.hpp"
#include "support/host_device.hpp"
#include "vulkan/work.hpp"

namespace lapilli::vulkan {
namespace {

using counting::HostDevice;
using testing::HasSubstr;

class DeviceAdopted : public testing::Test {
 protected:
  void SetUp() override {
    counting::reset();
    host_ = HostDevice::create({.get_instance_proc_addr = counting::get_instance_proc_addr()});
    ASSERT_TRUE(host_);
  }
  void TearDown() override {
    host_.reset();
    EXPECT_TRUE(counting::living().empty());
    counting::reset();
  }
  std::unique_ptr<HostDevice> host_;
};

TEST_F(DeviceAdopted, WorksAndIsGivenBackAsItWas) {
  const auto before = counting::living();
  {
    auto device = Device::adopt(host_->handles(), {});
    ASSERT_TRUE(device.ok()) << device.error().message;
    auto work = Work::make(*device, 5000);
    ASSERT_TRUE(work.ok()) << work.error().message;
    const Status status = work->run();
    EXPECT_TRUE(status.ok()) << status.error().message;
    EXPECT_NE(counting::living(), before);
  }
  EXPECT_EQ(counting::living(), before);
  EXPECT_EQ(counting::calls("vkDestroyDevice"), 0u);
  EXPECT_EQ(counting::calls("vkDestroyInstance"), 0u);
}

TEST_F(DeviceAdopted, OnlyWhatTheHostEnabledIsUsed) {
  auto device = Device::adopt(host_->handles(), {});
  ASSERT_TRUE(device.ok());
  const Capabilities& c = (*device)->caps();
  EXPECT_FALSE(c.timeline_semaphore || c.storage_16bit || c.arithmetic_fp16 || c.storage_8bit || c.arithmetic_int8 ||
               c.integer_dot || c.memory_budget || c.subgroup_size_control);
  EXPECT_LT(c.api_version, VK_API_VERSION_1_2);
  EXPECT_EQ(counting::calls("vkCreateSemaphore"), 0u);
}

TEST_F(DeviceAdopted, MasksApply) {
  auto device = Device::adopt(host_->handles(), {.mask = "staging,small-bindings"});
  ASSERT_TRUE(device.ok());
  EXPECT_EQ((*device)->caps().max_storage_range, 65536u);
  auto work = Work::make(*device, 3000);
  ASSERT_TRUE(work.ok());
  EXPECT_TRUE(work->run().ok());
  EXPECT_GT((*device)->counters().staged_bytes, 0u);
}

TEST_F(DeviceAdopted, TheQueueIsUsedUnderTheHostsLock) {
  std::mutex queue;
  std::atomic<int> locks{0}, unlocks{0};
  std::atomic<bool> held{false}, overlap{false};
  auto handles = host_->handles();
  handles.lock_queue = [&] {
    queue.lock();
    overlap = overlap || held.exchange(true);
    ++locks;
  };
  handles.unlock_queue = [&] {
    overlap = overlap || !held.exchange(false);
    ++unlocks;
    queue.unlock();
  };
  auto device = Device::adopt(handles, {.mask = "staging"});
  ASSERT_TRUE(device.ok());
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        auto work = Work::make(*device, 3000);
        if (!work || !work->run()) ++failures;
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(failures, 0);
  EXPECT_FALSE(overlap);
  EXPECT_EQ(locks, unlocks);
  EXPECT_EQ(static_cast<uint64_t>(locks), counting::calls("vkQueueSubmit"));
  EXPECT_GT(locks, 30);
}

TEST_F(DeviceAdopted, ALockThatThrowsIsAnError) {
  auto handles = host_->handles();
  handles.lock_queue = [] { throw std::runtime_error("no"); };
  handles.unlock_queue = [] {};
  auto device = Device::adopt(handles, {});
  ASSERT_TRUE(device.ok());
  auto work = Work::make(*device, 100);
  const Status status = work ? work->run() : Status(work.error());
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("queue lock"));
}

TEST_F(DeviceAdopted, WhatIsMissingIsRefusedWithReasons) {
  const auto refuse = [&](auto change, const char* why) {
    auto handles = host_->handles();
    change(handles);
    auto device = Device::adopt(handles, {});
    ASSERT_FALSE(device.ok()) << why;
    EXPECT_THAT(device.error().message, HasSubstr(why));
  };
  refuse([](AdoptedDevice& h) { h.get_instance_proc_addr = nullptr; }, "vkGetInstanceProcAddr");
  refuse([](AdoptedDevice& h) { h.queue = nullptr; }, "VkQueue");
  refuse([](AdoptedDevice& h) { h.api_version = 0; }, "1.1 is needed");
  refuse([](AdoptedDevice& h) { h.api_version = VK_API_VERSION_1_0; }, "made for Vulkan 1.0");
  refuse([](AdoptedDevice& h) { h.lock_queue = [] {}; }, "both queue callbacks");
  refuse([](AdoptedDevice& h) { h.queue_family = 99; }, "queue family 99 has no compute");
  refuse([](AdoptedDevice& h) { h.instance = nullptr; }, "VkInstance");
  refuse([](AdoptedDevice& h) { h.physical_device = nullptr; }, "VkPhysicalDevice");
  refuse([](AdoptedDevice& h) { h.device = nullptr; }, "VkDevice");
  refuse([](AdoptedDevice& h) { h.timeline_semaphore = true; }, "timelineSemaphore");
  refuse([](AdoptedDevice& h) { h.storage_8bit = true; }, "storageBuffer8BitAccess");
  refuse([](AdoptedDevice& h) { h.arithmetic_int8 = true; }, "shaderInt8");
  refuse([](AdoptedDevice& h) { h.arithmetic_fp16 = true; }, "VK_KHR_shader_float16_int8 or Vulkan 1.2");
  refuse([](AdoptedDevice& h) { h.integer_dot = true; }, "VK_KHR_shader_integer_dot_product or Vulkan 1.3");
  refuse([](AdoptedDevice& h) { h.subgroup_size_control = true; }, "VK_EXT_subgroup_size_control or Vulkan 1.3");
  const auto locked = [](AdoptedDevice& h) { h.lock_queue = h.unlock_queue = [] {}; };
  refuse([&](AdoptedDevice& h) { locked(h), h.submit = [](const SubmitRequest&) {}; }, "submit callback");
  refuse([&](AdoptedDevice& h) { locked(h), h.append = true; }, "with append nothing is submitted");
  // All that is wrong at once.
  refuse([](AdoptedDevice& h) { h.instance = nullptr, h.queue = nullptr; }, "VkInstance is missing; the VkQueue");
  refuse([](AdoptedDevice& h) { h.timeline_semaphore = h.integer_dot = true; }, "; shaderIntegerDotProduct needs");
}

TEST_F(DeviceAdopted, WhatTheDeviceDoesNotOfferIsRefused) {
  counting::pretend_properties([](VkPhysicalDeviceProperties&) {}, true);
  auto handles = host_->handles();
  handles.timeline_semaphore = true;
  handles.device_extensions = {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME};
  auto device = Device::adopt(handles, {});
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().message, HasSubstr("timelineSemaphore is said to be enabled, but the device does not"));
}

TEST_F(DeviceAdopted, ACpuDriverIsRefusedIfAsked) {
  counting::pretend_properties([](VkPhysicalDeviceProperties& p) { p.deviceType = VK_PHYSICAL_DEVICE_TYPE_CPU; });
  auto device = Device::adopt(host_->handles(), {.refuse_cpu = true});
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().message, HasSubstr("CPU driver"));
}

// ---- the host submits -----------------------------------------------------------------------------------------------

// Keeps what it is handed until it is served, by whatever thread.
class LateHost {
 public:
  explicit LateHost(HostDevice& host) : host_(host) {}
  void operator()(const SubmitRequest& request) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(request);
    ++handed_;
  }
  // False if there is nothing.
  bool serve_one(bool refuse = false) {
    SubmitRequest request;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) return false;
      request = waiting_.front();
      waiting_.pop_front();
    }
    const VkResult r = refuse ? VK_ERROR_OUT_OF_HOST_MEMORY : host_.submit(request.info, request.fence);
    submission_done(request.submission, r);
    return true;
  }
  void serve() {
    while (serve_one()) {
    }
  }
  uint64_t handed() const { return handed_; }

 private:
  HostDevice& host_;
  std::mutex mutex_;
  std::deque<SubmitRequest> waiting_;
  std::atomic<uint64_t> handed_{0};
};

// A thread of the host's, until it goes.
class HostThread {
 public:
  explicit HostThread(std::function<void()> turn)
      : thread_([this, turn = std::move(turn)] {
          while (!stop_) {
            turn();
            std::this_thread::sleep_for(std::chrono::microseconds(200));
          }
          turn();
        }) {}
  ~HostThread() {
    stop_ = true;
    thread_.join();
  }
  HostThread(const HostThread&) = delete;
  HostThread& operator=(const HostThread&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// With timeline semaphores where the device has them, and with fences.
class DeviceHostSubmits : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    counting::reset();
    host_ = HostDevice::create({.get_instance_proc_addr = counting::get_instance_proc_addr(), .features = true});
    ASSERT_TRUE(host_);
    before_ = counting::living();
  }
  void TearDown() override {
    EXPECT_EQ(counting::living(), before_);
    EXPECT_EQ(counting::calls("vkDestroyDevice"), 0u);
    host_.reset();
    EXPECT_TRUE(counting::living().empty());
    counting::reset();
  }
  Result<std::shared_ptr<Device>> adopt(std::function<void(const SubmitRequest&)> submit, double timeout_s = 0) {
    auto handles = host_->handles();
    handles.queue = nullptr;
    handles.submit = std::move(submit);
    return Device::adopt(handles, {.mask = GetParam(), .wait_timeout_s = timeout_s});
  }
  std::unique_ptr<HostDevice> host_;
  std::map<std::string, int64_t> before_;
};

TEST_P(DeviceHostSubmits, LateAndOnAnotherThread) {
  LateHost late(*host_);
  HostThread render([&] { late.serve(); });
  LAPILLI_ASSERT_VALUE(const auto device, adopt(std::ref(late)));
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 4; ++i) {
        auto work = Work::make(device, 3000);
        if (!work || !work->run()) ++failures;
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(failures, 0);
  EXPECT_GE(late.handed(), 12u);
  EXPECT_EQ(counting::calls("vkQueueSubmit"), late.handed());
}

TEST_P(DeviceHostSubmits, WithinTheCallback) {
  LAPILLI_ASSERT_VALUE(const auto device, adopt([&](const SubmitRequest& request) {
                         submission_done(request.submission, host_->submit(request.info, request.fence));
                       }));
  LAPILLI_ASSERT_VALUE(auto work, Work::make(device, 3000));
  LAPILLI_EXPECT_OK(work.run());
}

TEST_P(DeviceHostSubmits, WhatWasNotSubmittedIsNotAskedFor) {
  LateHost late(*host_);
  LAPILLI_ASSERT_VALUE(const auto device, adopt(std::ref(late)));
  auto made = std::optional(Result<Work>(Work{}));
  {
    HostThread render([&] { late.serve(); });
    made = Work::make(device, 3000);
  }
  LAPILLI_ASSERT_OK(*made);
  Work& work = **made;
  const auto asked = counting::calls("vkGetFenceStatus") + counting::calls("vkWaitForFences");
  const auto reset = counting::calls("vkResetFences");
  const CommandRecording* list[] = {&*work.commands};
  LAPILLI_ASSERT_VALUE(const Ticket first, device->submit(list));
  LAPILLI_ASSERT_VALUE(const Ticket second, device->submit(list));
  for (const Ticket ticket : {first, second}) {
    LAPILLI_ASSERT_VALUE(const bool done, device->done(ticket));
    EXPECT_FALSE(done);
  }
  EXPECT_EQ(counting::calls("vkGetFenceStatus") + counting::calls("vkWaitForFences"), asked);
  EXPECT_LE(counting::calls("vkResetFences"), reset + 2);
  late.serve();
  LAPILLI_ASSERT_OK(device->wait(second));
  LAPILLI_ASSERT_VALUE(const bool done, device->done(first));
  EXPECT_TRUE(done);
  HostThread render([&] { late.serve(); });
  LAPILLI_EXPECT_OK(work.check());
}

TEST_P(DeviceHostSubmits, AnErrorOfTheHostEndsTheWork) {
  LateHost late(*host_);
  LAPILLI_ASSERT_VALUE(auto device, adopt(std::ref(late)));
  {
    auto made = std::optional(Result<Work>(Work{}));
    {
      HostThread render([&] { late.serve(); });
      made = Work::make(device, 3000);
    }
    LAPILLI_ASSERT_OK(*made);
    const CommandRecording* list[] = {&*(*made)->commands};
    LAPILLI_ASSERT_VALUE(const Ticket first, device->submit(list));
    LAPILLI_ASSERT_VALUE(const Ticket second, device->submit(list));
    EXPECT_TRUE(late.serve_one(true));
    EXPECT_TRUE(late.serve_one());
    for (const Ticket ticket : {first, second}) {
      const Status waited = device->wait(ticket);
      ASSERT_FALSE(waited.ok());
      EXPECT_EQ(waited.error().code, ErrorCode::device_lost);
      EXPECT_THAT(waited.error().message, HasSubstr("VK_ERROR_OUT_OF_HOST_MEMORY"));
      EXPECT_FALSE(device->done(ticket).ok());
    }
    const auto handed = late.handed();
    EXPECT_FALSE(device->submit(list).ok());
    EXPECT_EQ(late.handed(), handed);
  }
  device.reset();  // with all that it made
}

TEST_P(DeviceHostSubmits, ACallbackThatThrowsIsAnError) {
  LAPILLI_ASSERT_VALUE(const auto device, adopt([](const SubmitRequest&) -> void { throw std::runtime_error("no"); }));
  auto work = Work::make(device, 100);
  const Status status = work ? work->run() : Status(work.error());
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("submit callback"));
}

TEST_P(DeviceHostSubmits, AHostThatNeverSubmitsIsTold) {
  LateHost late(*host_);
  LAPILLI_ASSERT_VALUE(auto device, adopt(std::ref(late), 0.05));
  LAPILLI_ASSERT_VALUE(auto copy, CommandRecording::create(device));
  LAPILLI_ASSERT_OK(copy.begin());
  LAPILLI_ASSERT_OK(copy.end());
  const CommandRecording* list[] = {&copy};
  LAPILLI_ASSERT_VALUE(const Ticket ticket, device->submit(list));
  const Status waited = device->wait(ticket);
  ASSERT_FALSE(waited.ok());
  EXPECT_EQ(waited.error().code, ErrorCode::timeout);
  EXPECT_THAT(waited.error().message, HasSubstr("lapilli_submission_done"));
  late.serve();
  bool done = false;
  while (!done) {  // waiting would give up where the machine is busy
    LAPILLI_ASSERT_VALUE(done, device->done(ticket));
  }
}

INSTANTIATE_TEST_SUITE_P(Progress, DeviceHostSubmits, testing::Values("full", "no-timeline", "staging"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase(name, '-');
                           return name;
                         });

// ---- the host appends -----------------------------------------------------------------------------------------------

class DeviceAppends : public testing::Test {
 protected:
  void SetUp() override {
    counting::reset();
    host_ = HostDevice::create({.get_instance_proc_addr = counting::get_instance_proc_addr(), .features = true});
    ASSERT_TRUE(host_);
    before_ = counting::living();
  }
  void TearDown() override {
    device_.reset();
    EXPECT_EQ(counting::living(), before_);
    host_.reset();
    EXPECT_TRUE(counting::living().empty());
    counting::reset();
  }
  Status adopt(const char* mask = "full", double timeout_s = 0) {
    auto handles = host_->handles();
    handles.queue = nullptr;
    handles.append = true;
    LAPILLI_TRY(device_, Device::adopt(handles, {.mask = mask, .wait_timeout_s = timeout_s}));
    return {};
  }
  // One frame with at most so much of what waits.
  Appended frame(uint64_t budget_us = 1000) {
    Appended got;
    EXPECT_EQ(host_->frame([&](VkCommandBuffer into) {
      auto appended = device_->append(into, budget_us);
      EXPECT_TRUE(appended.ok()) << testing_support::message_of(appended);
      if (appended) got = *appended;
    }),
              VK_SUCCESS);
    if (got.serial) LAPILLI_EXPECT_OK(device_->completed(got.serial));
    return got;
  }
  // Work as it is made while frames go on.
  Result<Work> make_work(uint32_t n) {
    HostThread render([this] { frame(); });
    return Work::make(device_, n);
  }
  std::unique_ptr<HostDevice> host_;
  std::shared_ptr<Device> device_;
  std::map<std::string, int64_t> before_;
};

TEST_F(DeviceAppends, FramesDoTheWork) {
  for (const char* mask : {"full", "staging"}) {
    LAPILLI_ASSERT_OK(adopt(mask));
    std::atomic<uint64_t> frames{0};
    const auto submits = counting::calls("vkQueueSubmit");
    {
      HostThread render([&] {
        frame();
        ++frames;
      });
      std::vector<std::thread> threads;
      std::atomic<int> failures{0};
      for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
          for (int i = 0; i < 3; ++i) {
            auto work = Work::make(device_, 3000);
            if (!work || !work->run()) ++failures;
          }
        });
      }
      for (auto& t : threads) t.join();
      EXPECT_EQ(failures, 0);
    }
    EXPECT_EQ(counting::calls("vkQueueSubmit") - submits, frames);
    device_.reset();
  }
}

TEST_F(DeviceAppends, ByTheBudget) {
  LAPILLI_ASSERT_OK(adopt());
  LAPILLI_ASSERT_VALUE(auto work, make_work(1000));
  const CommandRecording* list[] = {&*work.commands};
  const auto submit = [&](std::initializer_list<double> expected) {
    for (const double us : expected) LAPILLI_EXPECT_OK(device_->submit(list, us));
  };
  EXPECT_EQ(frame().serial, 0u);  // nothing waits
  submit({100, 100, 100, 100, 5000, 0, 100, 0, 0, 100});
  const auto expect = [&](uint64_t budget, uint32_t pieces, uint32_t waiting, double us) {
    const Appended got = frame(budget);
    EXPECT_EQ(got.submissions, pieces);
    EXPECT_EQ(got.waiting, waiting);
    EXPECT_EQ(got.expected_us, us);
    EXPECT_EQ(got.serial != 0, pieces != 0);
  };
  expect(0, 0, 10, 0);
  expect(250, 2, 8, 200);
  expect(200, 2, 6, 200);
  expect(200, 1, 5, 5000);  // never none
  expect(9000, 1, 4, 0);    // unknown ones stand alone
  expect(9000, 1, 3, 100);
  expect(UINT64_MAX, 3, 0, 100);
  HostThread render([this] { frame(); });
  LAPILLI_EXPECT_OK(work.check());
}

TEST_F(DeviceAppends, DroppedWorkWaitsAgain) {
  LAPILLI_ASSERT_OK(adopt());
  LAPILLI_ASSERT_VALUE(auto work, make_work(1000));
  const CommandRecording* list[] = {&*work.commands};
  LAPILLI_ASSERT_OK(device_->submit(list, 10));
  LAPILLI_ASSERT_OK(device_->submit(list, 10));
  LAPILLI_ASSERT_VALUE(const Ticket ticket, device_->submit(list, 10));
  uint64_t first = 0;
  EXPECT_EQ(host_->frame([&](VkCommandBuffer into) {
    auto one = device_->append(into, 10);
    auto two = device_->append(into, 10);
    ASSERT_TRUE(one.ok() && two.ok());
    EXPECT_EQ(two->waiting, 1u);
    first = one->serial;
  }),
            VK_SUCCESS);
  // That frame did run, which its host denies: the work is idempotent.
  LAPILLI_ASSERT_OK(device_->dropped(first));
  const Appended again = frame();
  EXPECT_EQ(again.submissions, 3u);
  EXPECT_GT(again.serial, first + 1);
  LAPILLI_ASSERT_VALUE(const bool done, device_->done(ticket));
  EXPECT_TRUE(done);
  HostThread render([this] { frame(); });
  LAPILLI_EXPECT_OK(work.check());
}

TEST_F(DeviceAppends, WaitsSayWhatTheHostMustDo) {
  LAPILLI_ASSERT_OK(adopt("full", 0.05));
  LAPILLI_ASSERT_VALUE(auto recording, CommandRecording::create(device_));
  LAPILLI_ASSERT_OK(recording.begin());
  LAPILLI_ASSERT_OK(recording.end());
  const CommandRecording* list[] = {&recording};
  LAPILLI_ASSERT_VALUE(const Ticket ticket, device_->submit(list));
  const auto expect_timeout = [&](const char* what) {
    const Status waited = device_->wait(ticket);
    ASSERT_FALSE(waited.ok());
    EXPECT_EQ(waited.error().code, ErrorCode::timeout);
    EXPECT_THAT(waited.error().message, HasSubstr(what));
  };
  expect_timeout("be taken by lapilli_device_append");
  uint64_t serial = 0;
  EXPECT_EQ(host_->frame([&](VkCommandBuffer into) { serial = device_->append(into, 1)->serial; }), VK_SUCCESS);
  expect_timeout("be told by lapilli_device_completed");
  EXPECT_FALSE(device_->completed(serial + 1).ok());
  EXPECT_FALSE(device_->dropped(serial + 1).ok());
  LAPILLI_EXPECT_OK(device_->completed(serial));
  LAPILLI_EXPECT_OK(device_->completed(serial));  // again is the same
  LAPILLI_EXPECT_OK(device_->wait(ticket));
}

// Work that nobody will take any more is given up at once, with everything that it uses.
TEST_F(DeviceAppends, GoesWhileWorkWaits) {
  LAPILLI_ASSERT_OK(adopt());
  LAPILLI_ASSERT_VALUE(auto work, make_work(1000));
  const CommandRecording* list[] = {&*work.commands};
  LAPILLI_ASSERT_OK(device_->submit(list));
}

TEST_F(DeviceAppends, OnlyWhereItWasAskedFor) {
  LAPILLI_ASSERT_VALUE(const auto device, Device::adopt(host_->handles(), {}));
  int something = 0;
  for (const Status& status :
       {Status(device->append(&something, 1).error()), device->completed(0), device->dropped(0)}) {
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, HasSubstr("was not adopted for appending"));
  }
  LAPILLI_ASSERT_OK(adopt());
  EXPECT_FALSE(device_->append(nullptr, 1).ok());
}

// ---- what a device is to be made with
// ---------------------------------------------------------------------------------

TEST(DeviceHostRequirements, AreWhatAnOwnDeviceUses) {
  const auto host = HostDevice::create({.features = true});
  ASSERT_TRUE(host);
  const AdoptedDevice handles = host->handles();
  LAPILLI_ASSERT_VALUE(const auto own, Device::create({.select = "0"}));
  LAPILLI_ASSERT_VALUE(const auto adopted, Device::adopt(handles, {}));
  Capabilities a = own->caps(), b = adopted->caps();
  a.api_version = b.api_version;
  EXPECT_EQ(a, b);
  EXPECT_TRUE(host_requirements(handles.get_instance_proc_addr, handles.instance, nullptr).error().code ==
              ErrorCode::invalid_argument);
}

TEST(DeviceHostRequirements, SayWhyADeviceCannotBeUsed) {
  counting::reset();
  counting::pretend_properties([](VkPhysicalDeviceProperties& p) { p.limits.maxComputeSharedMemorySize = 4096; });
  {
    const auto host = HostDevice::create({.get_instance_proc_addr = counting::get_instance_proc_addr()});
    ASSERT_TRUE(host);
    const AdoptedDevice h = host->handles();
    LAPILLI_ASSERT_VALUE(const auto asked, host_requirements(h.get_instance_proc_addr, h.instance, h.physical_device));
    EXPECT_THAT(asked.refusal, HasSubstr("4096 bytes of shared memory"));
    EXPECT_TRUE(asked.extensions.empty());
    auto device = Device::adopt(h, {});
    ASSERT_FALSE(device.ok());
    EXPECT_THAT(device.error().message, HasSubstr(asked.refusal));
  }
  counting::reset();
}

}  // namespace
}  // namespace lapilli::vulkan
