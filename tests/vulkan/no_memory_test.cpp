// A host without memory: destructors need none, and what fails half-way leaks nothing. The allocation functions of this
// program are replaced for it; what the driver allocates is not counted.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "base/log.hpp"
#include "support/counting_vulkan.hpp"
#include "vulkan/affine.spv.h"
#include "vulkan/device/suballocator.hpp"
#include "vulkan/work.hpp"

namespace {
thread_local bool starved = false;    // this thread gets no memory...
thread_local uint64_t left_over = 0;  // ...after so many more allocations
thread_local bool refused = false;

void* get(size_t n) {
  if (starved && !lapilli::counting::inside()) {
    if (left_over == 0) {
      refused = true;
      throw std::bad_alloc();
    }
    --left_over;
  }
  if (void* p = std::malloc(n ? n : 1)) return p;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(size_t n) { return get(n); }
void* operator new[](size_t n) { return get(n); }
// All forms, since what one gives another may take back (a driver's nothrow new with an ordinary delete).
void* operator new(size_t n, const std::nothrow_t&) noexcept { return std::malloc(n ? n : 1); }
void* operator new[](size_t n, const std::nothrow_t&) noexcept { return std::malloc(n ? n : 1); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace lapilli::vulkan {
namespace {

struct Starve {
  explicit Starve(uint64_t n = 0) {
    left_over = n;
    refused = false;
    starved = true;
  }
  ~Starve() { starved = false; }
  Starve(const Starve&) = delete;
  Starve& operator=(const Starve&) = delete;
};

class DeviceFaultsNoMemory : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    counting::reset();
    set_log_level(LogLevel::error);
    options_.get_instance_proc_addr = counting::get_instance_proc_addr();
    options_.mask = GetParam();
  }
  void TearDown() override {
    set_log_level(LogLevel::note);
    counting::reset();
  }
  std::shared_ptr<Device> make() {
    auto device = Device::create(options_);
    EXPECT_TRUE(device.ok()) << device.error().message;
    return device ? *device : nullptr;
  }
  DeviceOptions options_;
};

TEST_P(DeviceFaultsNoMemory, DestructorsNeedNone) {
  for (const bool in_flight : {false, true}) {
    auto device = make();
    ASSERT_TRUE(device);
    {
      auto work = Work::make(device, 1000);
      ASSERT_TRUE(work.ok()) << work.error().message;
      ASSERT_TRUE(work->run().ok());
      if (in_flight) {
        const CommandRecording* list[] = {&*work->commands};
        ASSERT_TRUE(device->submit(list).ok());
        counting::hide_progress(true);
      }
      const Starve starve;
      work->commands.reset();
      work->arena.reset();
      for (Buffer* buffer : {&work->x, &work->y, &work->uniform}) *buffer = Buffer();
    }
    EXPECT_EQ(counting::to_string(counting::living()).find("DescriptorPool 1") != std::string::npos, in_flight);
    counting::hide_progress(false);
    {
      const Starve starve;
      device.reset();
    }
    EXPECT_FALSE(refused);
    EXPECT_EQ(counting::to_string(counting::living()), "");
  }
}

TEST_P(DeviceFaultsNoMemory, AHungDeviceIsParkedWithoutAny) {
  options_.wait_timeout_s = 2;  // also covers the honest work before
  auto device = make();
  ASSERT_TRUE(device);
  {
    auto work = Work::make(device, 1000);
    ASSERT_TRUE(work.ok());
    counting::freeze_progress(true);
    const CommandRecording* list[] = {&*work->commands};
    ASSERT_TRUE(device->submit(list).ok());
  }
  const Starve starve;
  device.reset();  // even the message of the time-out may not be had
}

// Every allocation of `act` fails once, together with all that follow.
template <class Act>
void sweep(const Act& act) {
  for (uint64_t n = 0;; ++n) {
    ASSERT_LT(n, 1000u);
    bool failed = false;
    try {
      const Starve starve(n);
      act();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    if (!failed && !refused) return;
  }
}

TEST_P(DeviceFaultsNoMemory, AHalfMadeBufferIsNotLost) {
  auto device = make();
  ASSERT_TRUE(device);
  uint64_t made = 0;
  // Small ones, and ones that need a block of their own.
  for (const uint64_t bytes : {uint64_t{1000}, uint64_t{200} << 20}) {
    sweep([&] { made += device->make_buffer(bytes, MemoryUse::device, "x").ok() ? 1 : 0; });
  }
  EXPECT_GE(made, 2u);
  device.reset();
  EXPECT_EQ(counting::to_string(counting::living()), "");
}

TEST_P(DeviceFaultsNoMemory, HalfMadePipelinesAreNotLost) {
  auto device = make();
  ASSERT_TRUE(device);
  uint32_t next = 0, made = 0;
  for (const bool refuse : {false, true}) {
    sweep([&] {
      ++next;  // never asked for before
      const PipelineRequest all[] = {{spv_affine, std::size(spv_affine), "affine", {next, 1}},
                                     {spv_affine, std::size(spv_affine), "affine", {next, 2}}};
      if (refuse) counting::fail("vkCreateComputePipelines", VK_ERROR_UNKNOWN, 1, 2);  // the batch, then one alone
      made += device->pipelines(all).ok() ? 1 : 0;
    });
    counting::fail("", VK_SUCCESS, 0);
  }
  EXPECT_EQ(made, 1u);
  device.reset();
  EXPECT_EQ(counting::to_string(counting::living()), "");
}

TEST_P(DeviceFaultsNoMemory, WhatIsSubmittedIsKnown) {
  auto device = make();
  ASSERT_TRUE(device);
  auto work = Work::make(device, 1000);
  ASSERT_TRUE(work.ok()) << work.error().message;
  const CommandRecording* list[] = {&*work->commands};
  sweep([&] { (void)device->submit(list).ok(); });
  EXPECT_EQ(counting::calls("vkQueueSubmit"), device->counters().submissions);
  const auto ticket = device->submit(list);
  ASSERT_TRUE(ticket.ok());
  EXPECT_EQ(*ticket, counting::calls("vkQueueSubmit"));  // one for one, none forgotten
  EXPECT_TRUE(device->wait(*ticket).ok());
  EXPECT_TRUE(work->check().ok());
}

INSTANTIATE_TEST_SUITE_P(, DeviceFaultsNoMemory, testing::Values("full", "no-timeline", "staging"),
                         [](const auto& test) {
                           return test.param == std::string("no-timeline") ? "fences" : test.param;
                         });

TEST(SuballocatorNoMemory, AFailedAllocationChangesNothing) {
  Suballocator s(1000);
  const auto first = s.allocate(100, 1), hole = s.allocate(200, 1), last = s.allocate(300, 1);
  ASSERT_TRUE(first && hole && last);
  ASSERT_TRUE(s.release(*hole));
  const uint64_t free = s.free_bytes();
  for (uint64_t n = 0;; ++n) {
    try {
      const Starve starve(n);
      ASSERT_TRUE(s.allocate(64, 64).has_value());  // splits its hole in three
      break;
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(s.free_bytes(), free);
    }
  }
  EXPECT_EQ(s.free_bytes(), free - 64);
  const Starve starve;
  EXPECT_TRUE(s.release(*first));
  EXPECT_TRUE(s.release(*last));
}

}  // namespace
}  // namespace lapilli::vulkan
