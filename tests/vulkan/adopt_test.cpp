// A device that the host made and keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "support/counting_vulkan.hpp"
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
  refuse([](AdoptedDevice& h) { h.queue = nullptr; }, "queue");
  refuse([](AdoptedDevice& h) { h.api_version = 0; }, "1.1 is needed");
  refuse([](AdoptedDevice& h) { h.api_version = VK_API_VERSION_1_0; }, "made for Vulkan 1.0");
  refuse([](AdoptedDevice& h) { h.lock_queue = [] {}; }, "both queue callbacks");
  refuse([](AdoptedDevice& h) { h.queue_family = 99; }, "queue family 99 has no compute");
}

}  // namespace
}  // namespace lapilli::vulkan
