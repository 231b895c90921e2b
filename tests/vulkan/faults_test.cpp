// Faults of drivers: calls that fail, devices that are lost or hang, memory that is not coherent. Through the counting
// table, which also shows that nothing is leaked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <thread>

#include "support/counting_vulkan.hpp"
#include "vulkan/affine.spv.h"
#include "vulkan/device/snapshot.hpp"
#include "vulkan/work.hpp"

namespace lapilli::vulkan {
namespace {

using testing::HasSubstr;

class DeviceFaults : public testing::TestWithParam<const char*> {
 protected:
  // An instance that keeps the driver in memory. Each time that SwiftShader is loaded it takes one of a process's 1,024
  // thread keys, and never gives it back: the sweeps load it more often than that.
  static void SetUpTestSuite() {
    auto device = Device::create({});
    ASSERT_TRUE(device.ok()) << device.error().message;
    keeps_driver_ = *device;
  }
  static void TearDownTestSuite() { keeps_driver_.reset(); }
  void SetUp() override {
    counting::reset();
    options_.get_instance_proc_addr = counting::get_instance_proc_addr();
    ASSERT_NE(options_.get_instance_proc_addr, nullptr) << "no Vulkan loader";
    options_.mask = GetParam();
  }
  void TearDown() override { counting::reset(); }
  std::shared_ptr<Device> make() {
    auto device = Device::create(options_);
    EXPECT_TRUE(device.ok()) << device.error().message;
    return device ? *device : nullptr;
  }
  DeviceOptions options_;

 private:
  static inline std::shared_ptr<Device> keeps_driver_;
};

// From the loader to the result.
Status everything(const DeviceOptions& options) {
  LAPILLI_TRY(auto device, Device::create(options));
  LAPILLI_TRY(Work work, Work::make(device, 5000));
  LAPILLI_CHECK(work.run());
  return work.run();
}

TEST_P(DeviceFaults, AnyCallMayFail) {
  // Every sweep makes some hundred devices: each mask has the failures that its paths treat differently.
  std::vector<VkResult> results = {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST, VK_ERROR_UNKNOWN};
  if (GetParam() == std::string("no-timeline")) results = {VK_ERROR_DEVICE_LOST};
  if (GetParam() == std::string("staging")) results = {VK_ERROR_OUT_OF_DEVICE_MEMORY};
  for (const VkResult result : results) {
    uint64_t errors = 0;
    for (uint64_t nth = 1;; ++nth) {
      counting::reset();
      counting::fail("", result, nth);
      const Status status = everything(options_);
      if (!counting::failed()) {
        EXPECT_TRUE(status.ok()) << status.error().message;
        EXPECT_GT(nth, 30u);  // all the calls were reached
        break;
      }
      if (!status) {
        ++errors;
        EXPECT_NE(status.error().message, "");
        if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY) {
          EXPECT_EQ(status.error().code, ErrorCode::out_of_memory) << status.error().message;
        }
      }
      EXPECT_EQ(counting::to_string(counting::living()), "")
          << "after call " << nth << " failed with " << result_name(result);
    }
    EXPECT_GT(errors, 20u);
  }
}

TEST_P(DeviceFaults, NothingIsLeakedWhenAllIsWell) {
  EXPECT_TRUE(everything(options_).ok());
  EXPECT_EQ(counting::to_string(counting::living()), "");
}

TEST_P(DeviceFaults, ALostDeviceStaysLost) {
  auto device = make();
  ASSERT_TRUE(device);
  auto work = Work::make(device, 1000);
  ASSERT_TRUE(work.ok());
  EXPECT_TRUE(device->health().ok());
  counting::fail("vkQueueSubmit", VK_ERROR_DEVICE_LOST);
  const Status status = work->run();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::device_lost);
  // The driver would answer again; the device must not.
  std::vector<std::byte> bytes(4);
  EXPECT_EQ(device->health().error().code, ErrorCode::device_lost);
  EXPECT_EQ(work->run().error().code, ErrorCode::device_lost);
  EXPECT_EQ(device->make_buffer(4, MemoryUse::device, "x").error().code, ErrorCode::device_lost);
  EXPECT_EQ(device->read(work->y, 0, bytes).error().code, ErrorCode::device_lost);
  EXPECT_EQ(device->write(work->y, 0, bytes).error().code, ErrorCode::device_lost);
  EXPECT_EQ(device->pipelines({}).error().code, ErrorCode::device_lost);
  EXPECT_EQ(DescriptorArena::create(device, 1).error().code, ErrorCode::device_lost);
  EXPECT_EQ(CommandRecording::create(device).error().code, ErrorCode::device_lost);
  work = fail(ErrorCode::internal, "gone");
  device.reset();
  EXPECT_EQ(counting::to_string(counting::living()), "");
  // A new one works.
  EXPECT_TRUE(everything(options_).ok());
}

// A device has one time-out: it covers the honest work before the hang as well, on machines that are busy with other
// tests.
constexpr double kPatience = 2;

// A wait that succeeds is no proof: drivers let waits end when the device is lost.
TEST_P(DeviceFaults, AWaitThatEndsBecauseTheDeviceIsLostIsAnError) {
  auto device = make();
  ASSERT_TRUE(device);
  auto work = Work::make(device, 1000);
  ASSERT_TRUE(work.ok());
  counting::lose_silently(true);
  const CommandRecording* list[] = {&*work->commands};
  const auto ticket = device->submit(list);
  ASSERT_TRUE(ticket.ok());
  const Status status = device->wait(*ticket);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::device_lost) << status.error().message;
  EXPECT_EQ(device->health().error().code, ErrorCode::device_lost);
  counting::lose_silently(false);
  work = fail(ErrorCode::internal, "gone");
  device.reset();
  EXPECT_EQ(counting::to_string(counting::living()), "");
}

// The counter and the fences say what is done; a wait that succeeds before is no progress, and does not spin.
TEST_P(DeviceFaults, AWaitThatEndsEarlyCompletesNothing) {
  options_.wait_timeout_s = kPatience;
  auto device = make();
  ASSERT_TRUE(device);
  auto work = Work::make(device, 1000);
  ASSERT_TRUE(work.ok()) << work.error().message;
  const CommandRecording* list[] = {&*work->commands};
  counting::end_waits_early(true);
  const auto ticket = device->submit(list);
  ASSERT_TRUE(ticket.ok());
  const auto before = counting::calls();
  const Status status = device->wait(*ticket);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::timeout) << status.error().message;
  EXPECT_LE(counting::waits(counting::since(before)), kPatience / 200e-6);
  EXPECT_FALSE(*device->done(*ticket));
  EXPECT_TRUE(device->health().ok());
  // Once the progress is there, a wait that is under way sees it.
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    counting::end_waits_early(false);
  });
  EXPECT_TRUE(device->wait(*ticket).ok());
  later.join();
  EXPECT_TRUE(work->check().ok());
}

TEST_P(DeviceFaults, ADeviceLostBehindAnEarlyWaitIsAnError) {
  auto device = make();
  ASSERT_TRUE(device);
  auto work = Work::make(device, 1000);
  ASSERT_TRUE(work.ok()) << work.error().message;
  const CommandRecording* list[] = {&*work->commands};
  const auto ticket = device->submit(list);
  ASSERT_TRUE(ticket.ok());
  counting::end_waits_early(true);
  const bool timeline = device->caps().timeline_semaphore;
  // The first answers still say that nothing is done.
  counting::fail(timeline ? "vkGetSemaphoreCounterValue" : "vkGetFenceStatus", VK_ERROR_DEVICE_LOST, 4);
  EXPECT_EQ(device->wait(*ticket).error().code, ErrorCode::device_lost);
  EXPECT_EQ(device->wait(*ticket).error().code, ErrorCode::device_lost);
}

TEST_P(DeviceFaults, ATimeoutMayBeForEver) {
  for (const double seconds : {1e10, 1e300, std::numeric_limits<double>::infinity()}) {
    options_.wait_timeout_s = seconds;
    const Status status = everything(options_);
    EXPECT_TRUE(status.ok()) << seconds << ": " << status.error().message;
  }
}

TEST_P(DeviceFaults, SettlingWaitsAndFrees) {
  options_.wait_timeout_s = kPatience;
  auto device = make();
  ASSERT_TRUE(device);
  counting::hide_progress(true);
  {
    auto work = Work::make(device, 1000);
    ASSERT_TRUE(work.ok()) << work.error().message;
    const CommandRecording* list[] = {&*work->commands};
    ASSERT_TRUE(device->submit(list).ok());
  }
  EXPECT_THAT(counting::to_string(counting::living()), HasSubstr("DescriptorPool 1"));
  EXPECT_TRUE(device->settle());
  EXPECT_THAT(counting::to_string(counting::living()), testing::Not(HasSubstr("DescriptorPool 1")));
  counting::hide_progress(false);
  auto work = Work::make(device, 1000);
  ASSERT_TRUE(work.ok()) << work.error().message;
  const CommandRecording* list[] = {&*work->commands};
  ASSERT_TRUE(device->submit(list).ok());
  counting::freeze_progress(true);
  EXPECT_FALSE(device->settle());
  counting::freeze_progress(false);
  EXPECT_TRUE(device->settle());
}

// Mapped memory that nothing in flight uses is touched at once, whatever else the device does.
TEST_P(DeviceFaults, AccessMayWaitForOneTicketAlone) {
  options_.wait_timeout_s = kPatience;
  auto device = make();
  ASSERT_TRUE(device);
  auto work = Work::make(device, 1000);
  ASSERT_TRUE(work.ok()) << work.error().message;
  auto own = device->make_buffer(64, MemoryUse::device, "own");
  ASSERT_TRUE(own.ok());
  const CommandRecording* list[] = {&*work->commands};
  ASSERT_TRUE(device->submit(list).ok());
  counting::freeze_progress(true);
  std::vector<std::byte> bytes(64, std::byte{7}), got(64);
  const Status written = device->write(*own, 0, bytes, 0);
  if (own->mapped()) {
    EXPECT_TRUE(written.ok());
    EXPECT_TRUE(device->read(*own, 0, got, 0).ok());
    EXPECT_TRUE(got == bytes);
  } else {  // a transfer has its place in the queue's order
    EXPECT_EQ(written.error().code, ErrorCode::timeout);
  }
  EXPECT_EQ(device->write(*own, 0, bytes).error().code, ErrorCode::timeout);
  counting::freeze_progress(false);
}

TEST_P(DeviceFaults, AWaitGivesUp) {
  options_.wait_timeout_s = kPatience;
  auto device = make();
  ASSERT_TRUE(device);
  {
    auto work = Work::make(device, 1000);
    ASSERT_TRUE(work.ok()) << work.error().message;
    counting::freeze_progress(true);
    const auto start = std::chrono::steady_clock::now();
    const Status status = work->run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::timeout);
    EXPECT_THAT(status.error().message, HasSubstr("no progress for 2 s"));
    EXPECT_GE(took.count(), 0.95 * kPatience);
    EXPECT_LT(took.count(), 30);         // not the default, which is minutes on a CPU driver
    EXPECT_TRUE(device->health().ok());  // slow is not lost
    auto done = device->done(device->counters().submissions);
    ASSERT_TRUE(done.ok()) << done.error().message;
    EXPECT_FALSE(*done);
  }
  // Objects that the GPU may still use are kept.
  EXPECT_THAT(counting::to_string(counting::living()), HasSubstr("DescriptorPool 1"));
  counting::freeze_progress(false);
  EXPECT_TRUE(device->make_buffer(4, MemoryUse::device, "next").ok());
  EXPECT_THAT(counting::to_string(counting::living()), testing::Not(HasSubstr("DescriptorPool 1")));
  device.reset();
  EXPECT_EQ(counting::to_string(counting::living()), "");
}

TEST_P(DeviceFaults, AHungDeviceIsLeftAlone) {
  options_.wait_timeout_s = kPatience;
  {
    auto device = make();
    ASSERT_TRUE(device);
    auto work = Work::make(device, 1000);
    ASSERT_TRUE(work.ok());
    counting::freeze_progress(true);
    EXPECT_EQ(work->run().error().code, ErrorCode::timeout);
  }
  EXPECT_THAT(counting::to_string(counting::living()), HasSubstr("Device 1"));  // kept on purpose
}

TEST_P(DeviceFaults, WorkInFlightOutlivesItsObjects) {
  auto device = make();
  ASSERT_TRUE(device);
  for (int i = 0; i < 20; ++i) {
    auto work = Work::make(device, 200000);
    ASSERT_TRUE(work.ok());
    const CommandRecording* list[] = {&*work->commands};
    ASSERT_TRUE(device->submit(list).ok());
  }
  device.reset();
  EXPECT_EQ(counting::to_string(counting::living()), "");
}

TEST_P(DeviceFaults, APipelineThatFailsIsNamed) {
  for (const char* call : {"vkCreateComputePipelines", "vkCreateShaderModule"}) {
    for (const VkResult result : {VK_ERROR_UNKNOWN, VK_ERROR_INVALID_SHADER_NV, VK_ERROR_INITIALIZATION_FAILED}) {
      auto device = make();
      ASSERT_TRUE(device);
      counting::fail(call, result, 1, 0);
      auto work = Work::make(device, 100);
      ASSERT_FALSE(work.ok());
      // Not `unsupported`, which says that less of it may do.
      EXPECT_EQ(work.error().code, ErrorCode::no_device);
      EXPECT_THAT(work.error().message, HasSubstr("shader 'affine' with constants 3, 5"));
      EXPECT_THAT(work.error().message, HasSubstr(result_name(result)));
      // The driver is not asked again, and the answer stays.
      counting::fail("", VK_SUCCESS, 0);
      const auto before = counting::calls();
      const auto again = Work::make(device, 100);
      ASSERT_FALSE(again.ok());
      EXPECT_EQ(again.error().message, work.error().message);
      const auto calls = counting::since(before);
      EXPECT_EQ(calls.count("vkCreateComputePipelines") + calls.count("vkCreateShaderModule"), 0u);
    }
  }
  // A failed batch is tried one by one, and what fails for want of memory is tried again.
  auto device = make();
  ASSERT_TRUE(device);
  counting::fail("vkCreateComputePipelines", VK_ERROR_OUT_OF_HOST_MEMORY, 1, 2);
  EXPECT_EQ(Work::make(device, 100).error().code, ErrorCode::out_of_memory);
  counting::fail("vkCreateComputePipelines", VK_ERROR_UNKNOWN, 1, 1);
  auto work = Work::make(device, 100);
  ASSERT_TRUE(work.ok()) << work.error().message;
  EXPECT_TRUE(work->run().ok());
}

// The good pipelines of a batch are made, whichever comes first.
TEST_P(DeviceFaults, ARefusedPipelineLeavesItsSiblings) {
  auto device = make();
  ASSERT_TRUE(device);
  const PipelineRequest all[] = {{spv_affine, std::size(spv_affine), "affine", {1, 2}},
                                 {spv_affine, std::size(spv_affine), "affine", {3, 4}},
                                 {spv_affine, std::size(spv_affine), "affine", {5, 6}}};
  counting::fail("vkCreateComputePipelines", VK_ERROR_UNKNOWN, 1, 2);  // the batch, then the first alone
  const auto made = device->pipelines(all);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("constants 1, 2"));
  const auto before = counting::calls();
  EXPECT_TRUE(device->pipelines(std::span(all).subspan(1)).ok());
  EXPECT_FALSE(device->pipelines(std::span(all).first(1)).ok());
  EXPECT_EQ(counting::since(before).count("vkCreateComputePipelines"), 0u);
}

// Drivers that say odd things: limits that are no powers of two where Vulkan asks for it, and no word about subgroups.
TEST_P(DeviceFaults, OddLimitsAreRounded) {
  counting::pretend_properties([](VkPhysicalDeviceProperties& p) {
    p.limits.nonCoherentAtomSize = 96;
    p.limits.minStorageBufferOffsetAlignment = 48;
    p.limits.minUniformBufferOffsetAlignment = 0;
  });
  {
    auto device = make();
    ASSERT_TRUE(device);
    EXPECT_EQ(device->caps().non_coherent_atom, 128u);
    EXPECT_EQ(device->caps().storage_alignment, 64u);
    EXPECT_EQ(device->caps().uniform_alignment, 1u);
  }
  counting::pretend_properties([](VkPhysicalDeviceProperties& p) { p.limits.minStorageBufferOffsetAlignment = ~0ull; });
  EXPECT_FALSE(Device::create(options_).ok());
}

TEST_P(DeviceFaults, WithoutSizeControlAnySubgroupMayRun) {
  auto device = make();
  ASSERT_TRUE(device);
  const uint32_t size = device->caps().subgroup_size;
  counting::pretend_properties([](VkPhysicalDeviceProperties& p) { p.apiVersion = VK_API_VERSION_1_2; }, true);
  device = make();
  ASSERT_TRUE(device);
  EXPECT_EQ(device->caps().subgroup_size, size);
  EXPECT_EQ(device->caps().min_subgroup_size, 1u);
  EXPECT_EQ(device->caps().max_subgroup_size, size == 1 ? 1u : 128u);
  EXPECT_FALSE(device->caps().subgroup_size_control);
}

TEST_P(DeviceFaults, AQueueFamilyThatDoesNotDrawIsTakenFirst) {
  InstanceOptions io;
  io.get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(options_.get_instance_proc_addr);
  const auto instance = create_instance(io);
  ASSERT_TRUE(instance.ok()) << instance.error().message;
  const auto devices = physical_devices(**instance);
  ASSERT_TRUE(devices.ok()) << devices.error().message;
  constexpr VkQueueFlags copies = VK_QUEUE_TRANSFER_BIT, computes = VK_QUEUE_COMPUTE_BIT,
                         draws = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
  const auto family = [](VkQueueFlags flags, uint32_t timestamp_bits = 64, uint32_t queues = 1) {
    return VkQueueFamilyProperties{flags, queues, timestamp_bits, {1, 1, 1}};
  };
  const struct {
    std::vector<VkQueueFamilyProperties> families;
    uint32_t taken;
  } cases[] = {
      {{family(draws)}, 0},
      {{family(draws), family(copies), family(computes), family(computes)}, 2},
      {{family(draws), family(computes, 0)}, 1},  // timestamps are worth less
      {{family(draws), family(computes, 0), family(computes)}, 2},
      {{family(draws), family(computes, 64, 0)}, 0},  // it has no queue
      {{family(copies), family(draws), family(draws)}, 1},
  };
  for (const auto& c : cases) {
    counting::pretend_queue_families(c.families);
    const Snapshot s = take_snapshot(**instance, devices->at(0));
    EXPECT_EQ(s.refusal, "");
    EXPECT_EQ(s.queue_family, c.taken) << "case " << &c - cases;
    EXPECT_EQ(s.timestamp_bits, c.families[c.taken].timestampValidBits);
    EXPECT_EQ(take_snapshot(**instance, devices->at(0), 0).queue_family, 0u);  // the host's own, whatever else there is
  }
  counting::pretend_queue_families({family(copies)});
  EXPECT_THAT(take_snapshot(**instance, devices->at(0)).refusal, HasSubstr("no queue with compute"));
}

TEST_P(DeviceFaults, MemoryThatIsNotCoherentIsFlushed) {
  for (const uint64_t atom : {64u, 256u}) {
    counting::reset();
    counting::pretend_non_coherent(atom);
    const Status status = everything(options_);
    EXPECT_TRUE(status.ok()) << status.error().message;
    EXPECT_GT(counting::calls("vkFlushMappedMemoryRanges"), 0u);
    EXPECT_GT(counting::calls("vkInvalidateMappedMemoryRanges"), 0u);
    EXPECT_EQ(counting::to_string(counting::living()), "");
  }
}

// Odd ranges side by side: each flush carries its own bytes and nothing else's.
TEST_P(DeviceFaults, FlushedRangesCoverWrittenOnes) {
  counting::pretend_non_coherent(256);
  auto device = make();
  ASSERT_TRUE(device);
  auto a = device->make_buffer(1001, MemoryUse::upload, "a"), b = device->make_buffer(777, MemoryUse::upload, "b");
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_TRUE(device->zero(*a).ok() && device->zero(*b).ok());
  std::vector<std::byte> want(1001);
  for (const auto& [offset, n] : {std::pair<uint64_t, uint64_t>{0, 1}, {255, 2}, {300, 600}, {1000, 1}}) {
    for (uint64_t i = offset; i < offset + n; ++i) want[i] = a->mapped()[i] = static_cast<std::byte>(i | 1);
    ASSERT_TRUE(a->flush(offset, n).ok());
  }
  // Read on the device's side, through a copy.
  auto copy = device->make_buffer(1001, MemoryUse::readback, "copy");
  ASSERT_TRUE(copy.ok());
  auto commands = CommandRecording::create(device);
  ASSERT_TRUE(commands.ok() && commands->begin().ok());
  commands->copy(*a, 0, *copy, 0, 1001);
  ASSERT_TRUE(commands->end().ok());
  const CommandRecording* list[] = {&*commands};
  auto ticket = device->submit(list);
  ASSERT_TRUE(ticket.ok() && device->wait(*ticket).ok());
  std::vector<std::byte> got(1001);
  ASSERT_TRUE(device->read(*copy, 0, got).ok());
  EXPECT_TRUE(got == want);
}

TEST_P(DeviceFaults, OutOfMemoryIsAnErrorAndLeavesTheDeviceUsable) {
  auto device = make();
  ASSERT_TRUE(device);
  counting::limit_memory(40 << 20);
  std::vector<Buffer> held;
  while (true) {
    auto b = device->make_buffer(5 << 20, MemoryUse::device, "filler");
    if (!b) {
      EXPECT_EQ(b.error().code, ErrorCode::out_of_memory);
      EXPECT_THAT(b.error().message, HasSubstr("'filler'"));
      break;
    }
    held.push_back(std::move(*b));
    ASSERT_LT(held.size(), 20u);
  }
  EXPECT_GE(held.size(), 6u);
  held.clear();
  counting::limit_memory(0);
  auto work = Work::make(device, 1000);
  ASSERT_TRUE(work.ok()) << work.error().message;
  EXPECT_TRUE(work->run().ok());
}

TEST_P(DeviceFaults, AReplayOnlySubmitsAndWaits) {
  auto device = make();
  ASSERT_TRUE(device);
  auto work = Work::make(device, 1000);
  ASSERT_TRUE(work.ok());
  const CommandRecording* list[] = {&*work->commands, &*work->commands, &*work->commands};
  ASSERT_TRUE(work->run().ok());  // fences and staging are made here
  const auto before = counting::calls();
  for (int i = 0; i < 10; ++i) {
    auto ticket = device->submit(list);
    ASSERT_TRUE(ticket.ok() && device->wait(*ticket).ok());
  }
  const auto calls = counting::since(before);
  EXPECT_EQ(counting::to_string(counting::setup_calls(calls)), "");
  EXPECT_EQ(counting::submits(calls), 10u);
  EXPECT_LE(counting::waits(calls), 10u);
}

TEST_P(DeviceFaults, ARecordingForSingleUseIsRefusedWhileItIsPending) {
  options_.wait_timeout_s = kPatience;
  auto device = make();
  ASSERT_TRUE(device);
  auto work = Work::make(device, 1000);
  ASSERT_TRUE(work.ok()) << work.error().message;
  EXPECT_EQ(counting::recordings().back(), VkCommandBufferUsageFlags(VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT));
  auto once = CommandRecording::create(device);
  ASSERT_TRUE(once.ok() && once->begin(RecordingUse::single).ok());
  EXPECT_EQ(counting::recordings().back(), 0u);
  once->fill(work->y, 0, 4000, 1);
  ASSERT_TRUE(once->end().ok());
  const CommandRecording *list[] = {&*once}, *twice[] = {&*once, &*once};
  const CommandRecording* often[] = {&*work->commands, &*work->commands};
  const auto refused = [&](std::span<const CommandRecording* const> recordings) {
    const auto before = counting::calls();
    const auto ticket = device->submit(recordings);
    EXPECT_EQ(counting::submits(counting::since(before)), 0u);
    return !ticket.ok() && ticket.error().code == ErrorCode::internal;
  };
  EXPECT_TRUE(refused(twice));
  counting::freeze_progress(true);
  EXPECT_TRUE(device->submit(list).ok());
  EXPECT_TRUE(refused(list));
  EXPECT_TRUE(device->submit(often).ok());
  const auto last = device->submit(often);
  ASSERT_TRUE(last.ok()) << last.error().message;
  counting::freeze_progress(false);
  ASSERT_TRUE(device->wait(*last).ok());
  const auto again = device->submit(list);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(device->wait(*again).ok());
}

TEST_P(DeviceFaults, ABarrierNamesWhatItIsFor) {
  auto device = make();
  ASSERT_TRUE(device);
  auto commands = CommandRecording::create(device);
  ASSERT_TRUE(commands.ok() && commands->begin().ok());
  const size_t opening = counting::barriers().size();
  commands->barrier();
  commands->barrier({.indirect = true});
  commands->barrier({.transfer = true});
  commands->barrier({.indirect = true, .transfer = true});
  auto made = counting::barriers();
  ASSERT_EQ(made.size(), opening + 4);
  made.erase(made.begin(), made.begin() + static_cast<ptrdiff_t>(opening));
  constexpr VkPipelineStageFlags shader = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, copy = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                 arguments = VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT;
  constexpr VkAccessFlags write = VK_ACCESS_SHADER_WRITE_BIT, copied = VK_ACCESS_TRANSFER_WRITE_BIT,
                          use = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_UNIFORM_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
                          by_copies = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                          fetched = VK_ACCESS_INDIRECT_COMMAND_READ_BIT;
  EXPECT_EQ(made[0], (counting::Barrier{shader, shader, write, use}));
  EXPECT_EQ(made[1], (counting::Barrier{shader, shader | arguments, write, use | fetched}));
  EXPECT_EQ(made[2], (counting::Barrier{shader | copy, shader | copy, write | copied, use | by_copies}));
  EXPECT_EQ(made[3],
            (counting::Barrier{shader | copy, shader | copy | arguments, write | copied, use | by_copies | fetched}));
  EXPECT_TRUE(commands->end().ok());
}

INSTANTIATE_TEST_SUITE_P(, DeviceFaults, testing::Values("full", "no-timeline", "staging"), [](const auto& test) {
  return test.param == std::string("no-timeline") ? "fences" : test.param;
});

}  // namespace
}  // namespace lapilli::vulkan
