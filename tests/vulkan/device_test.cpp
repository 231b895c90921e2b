// The device layer on whatever device there is: buffers, pipelines, recordings, submissions; each with mapped and
// staged memory, with a timeline semaphore and with fences.
#include "vulkan/device/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstring>
#include <random>
#include <thread>

#include "base/log.hpp"
#include "vulkan/affine.spv.h"
#include "vulkan/caps/capabilities_json.hpp"
#include "vulkan/indirect.spv.h"
#include "vulkan/spin.spv.h"
#include "vulkan/work.hpp"

namespace lapilli::vulkan {
namespace {

using testing::HasSubstr;

class DeviceMasks : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    DeviceOptions options;
    options.mask = GetParam();
    auto device = Device::create(options);
    ASSERT_TRUE(device.ok()) << device.error().message;
    device_ = *device;
  }
  Buffer buffer(uint64_t bytes, MemoryUse use = MemoryUse::device) {
    auto b = device_->make_buffer(bytes, use, "test");
    EXPECT_TRUE(b.ok()) << b.error().message;
    return b ? std::move(*b) : Buffer();
  }
  std::vector<std::byte> random_bytes(size_t n) {
    std::mt19937 random(static_cast<uint32_t>(n));
    std::vector<std::byte> v(n);
    for (std::byte& b : v) b = static_cast<std::byte>(random());
    return v;
  }
  std::shared_ptr<Device> device_;
};

// Adds one to y[0] at each submission; what is in y[1] takes `rounds` steps.
struct Spin {
  Buffer y;
  std::optional<DescriptorArena> arena;
  std::optional<CommandRecording> commands;
};
Result<Spin> make_spin(const std::shared_ptr<Device>& device, uint32_t rounds) {
  Spin s;
  LAPILLI_TRY(s.y, device->make_buffer(8, MemoryUse::device, "y"));
  LAPILLI_CHECK(device->zero(s.y));
  const PipelineRequest request{spv_spin, std::size(spv_spin), "spin", {}};
  LAPILLI_TRY(const auto pipelines, device->pipelines({&request, 1}));
  LAPILLI_TRY(s.arena, DescriptorArena::create(device, 1));
  const BufferBinding binding{0, &s.y, 0, 8};
  LAPILLI_TRY(const auto set, s.arena->write({&binding, 1}));
  LAPILLI_TRY(s.commands, CommandRecording::create(device));
  LAPILLI_CHECK(s.commands->begin());
  s.commands->bind(pipelines[0], set, std::as_bytes(std::span(&rounds, 1)));
  s.commands->dispatch(1, 1, 1);
  LAPILLI_CHECK(s.commands->end());
  return s;
}

TEST_P(DeviceMasks, ShaderReadsStorageUniformPushAndConstants) {
  for (const uint32_t n : {1u, 64u, 1000u, 100003u}) {
    auto work = Work::make(device_, n);
    ASSERT_TRUE(work.ok()) << work.error().message;
    const Status status = work->run();
    EXPECT_TRUE(status.ok()) << status.error().message;
  }
}

TEST_P(DeviceMasks, BytesSurviveAnyOffset) {
  constexpr uint64_t size = 20 << 20;  // more than both halves of the staging buffer
  Buffer b = buffer(size + 3);
  const auto all = random_bytes(size + 3);
  ASSERT_TRUE(device_->write(b, 0, all).ok());
  std::vector<std::byte> back(all.size());
  ASSERT_TRUE(device_->read(b, 0, back).ok());
  EXPECT_TRUE(back == all);
  // A patch in the middle leaves its neighbours as they are.
  const auto patch = random_bytes(12345);
  ASSERT_TRUE(device_->write(b, 7777, patch).ok());
  auto want = all;
  std::copy(patch.begin(), patch.end(), want.begin() + 7777);
  ASSERT_TRUE(device_->read(b, 0, back).ok());
  EXPECT_TRUE(back == want);
  std::vector<std::byte> part(101);
  ASSERT_TRUE(device_->read(b, size - 98, part).ok());
  EXPECT_TRUE(std::equal(part.begin(), part.end(), want.begin() + size - 98));
  ASSERT_TRUE(device_->zero(b).ok());
  ASSERT_TRUE(device_->read(b, 0, back).ok());
  EXPECT_EQ(std::count(back.begin(), back.end(), std::byte{0}), static_cast<std::ptrdiff_t>(back.size()));
  if (b.mapped()) {
    EXPECT_EQ(device_->counters().staged_bytes, 0u);
  } else {
    EXPECT_GT(device_->counters().staged_bytes, size);
  }
}

TEST_P(DeviceMasks, MaskDecidesHowMemoryIsReached) {
  const std::string mask = GetParam();
  const bool masked = mask.starts_with("staging") || mask == "floor";
  EXPECT_EQ(buffer(100, MemoryUse::shared).mapped() != nullptr, device_->caps().unified_memory);
  if (!device_->caps().unified_memory) {
    EXPECT_EQ(buffer(100).mapped(), nullptr);
  }
  if (masked) {
    EXPECT_FALSE(device_->caps().unified_memory);
  }
  EXPECT_NE(buffer(100, MemoryUse::upload).mapped(), nullptr);
  EXPECT_NE(buffer(100, MemoryUse::readback).mapped(), nullptr);
}

TEST_P(DeviceMasks, RangesOutsideAreErrors) {
  Buffer b = buffer(100);
  std::vector<std::byte> v(101);
  EXPECT_EQ(device_->write(b, 0, v).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(device_->read(b, 100, {v.data(), 1}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(device_->read(b, ~uint64_t{0}, {v.data(), 2}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(b.flush(99, 2).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(device_->write(b, 100, {}).ok());
  EXPECT_EQ(device_->make_buffer(0, MemoryUse::device, "nothing").error().code, ErrorCode::invalid_argument);
  const Status s = device_->zero(Buffer());
  EXPECT_EQ(s.error().code, ErrorCode::invalid_argument);
}

TEST_P(DeviceMasks, TooMuchMemoryIsAnError) {
  auto b = device_->make_buffer(uint64_t{1} << 60, MemoryUse::device, "whale");
  ASSERT_FALSE(b.ok());
  EXPECT_EQ(b.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(b.error().message, HasSubstr("whale"));
}

TEST_P(DeviceMasks, ManySubmissionsInFlightRunInOrder) {
  auto spin = make_spin(device_, 1000);
  ASSERT_TRUE(spin.ok()) << spin.error().message;
  const CommandRecording* twice[] = {&*spin->commands, &*spin->commands};
  const uint64_t before = device_->counters().submissions;
  Ticket last = 0;
  for (int i = 0; i < 50; ++i) {
    auto ticket = device_->submit(twice);
    ASSERT_TRUE(ticket.ok());
    EXPECT_GT(*ticket, last);
    last = *ticket;
  }
  EXPECT_EQ(device_->counters().submissions - before, 50u);
  ASSERT_TRUE(device_->wait(last - 25).ok());
  EXPECT_TRUE(*device_->done(last - 25));
  ASSERT_TRUE(device_->wait(last).ok());
  for (Ticket t = 0; t <= last; ++t) EXPECT_TRUE(*device_->done(t));
  std::vector<uint32_t> y(2);
  ASSERT_TRUE(device_->read(spin->y, 0, std::as_writable_bytes(std::span(y))).ok());
  EXPECT_EQ(y[0], 100u);
}

TEST_P(DeviceMasks, DoneDoesNotBlock) {
  auto spin = make_spin(device_, 30000000);
  ASSERT_TRUE(spin.ok());
  const CommandRecording* list[] = {&*spin->commands};
  auto ticket = device_->submit(list);
  ASSERT_TRUE(ticket.ok());
  const auto before = device_->counters().waits;
  while (!*device_->done(*ticket)) std::this_thread::yield();
  EXPECT_EQ(device_->counters().waits, before);
  ASSERT_TRUE(device_->wait(*ticket).ok());
  EXPECT_EQ(device_->counters().waits, before);  // known to be done
}

TEST_P(DeviceMasks, ARecordingInFlightIsNotRecordedAnew) {
  auto spin = make_spin(device_, 30000000);
  ASSERT_TRUE(spin.ok());
  const CommandRecording* list[] = {&*spin->commands};
  auto ticket = device_->submit(list);
  ASSERT_TRUE(ticket.ok());
  const Status status = spin->commands->begin();
  if (!status) {
    EXPECT_THAT(status.error().message, HasSubstr("in flight"));
  } else {
    EXPECT_TRUE(*device_->done(*ticket));  // a very fast device
  }
  ASSERT_TRUE(device_->wait(*ticket).ok());
  if (!status) {
    EXPECT_TRUE(spin->commands->begin().ok());
  }
  EXPECT_TRUE(spin->commands->end().ok());
}

TEST_P(DeviceMasks, ThreadsShareTheDevice) {
  std::vector<std::thread> threads;
  std::vector<std::string> errors(4);
  for (size_t t = 0; t < errors.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5 && errors[t].empty(); ++i) {
        auto work = Work::make(device_, static_cast<uint32_t>(5000 + t));
        const Status status = work ? work->run() : Status(work.error());
        if (!status) errors[t] = status.error().message;
      }
    });
  }
  for (auto& t : threads) t.join();
  for (const auto& e : errors) EXPECT_EQ(e, "");
  EXPECT_EQ(device_->counters().pipelines_created, 1u);
}

TEST_P(DeviceMasks, WritesOfTheHostAreOrderedAfterWork) {
  auto work = Work::make(device_, 300000);
  ASSERT_TRUE(work.ok());
  const CommandRecording* list[] = {&*work->commands};
  ASSERT_TRUE(device_->submit(list).ok());
  // No wait: the write of x must not reach the shader, the read of y must come after it.
  const std::vector<uint32_t> other(300000, 1);
  ASSERT_TRUE(device_->write(work->x, 0, bytes_of(other)).ok());
  const Status s = work->check();
  EXPECT_TRUE(s.ok()) << s.error().message;
}

TEST_P(DeviceMasks, PipelinesAreMadeOnceAndTogether) {
  const PipelineRequest a{spv_affine, std::size(spv_affine), "affine", {1, 2}};
  const PipelineRequest b{spv_affine, std::size(spv_affine), "affine", {1, 3}};
  const std::vector<uint32_t> copy(std::begin(spv_affine), std::end(spv_affine));
  const PipelineRequest same{copy.data(), copy.size(), "another name", {1, 2}};
  const PipelineRequest spin{spv_spin, std::size(spv_spin), "spin", {}};
  const PipelineRequest first[] = {a, b, same};
  auto p = device_->pipelines(first);
  ASSERT_TRUE(p.ok()) << p.error().message;
  EXPECT_EQ(p->at(0), p->at(2));
  EXPECT_NE(p->at(0), p->at(1));
  EXPECT_EQ(device_->counters().pipelines_created, 2u);
  const PipelineRequest second[] = {spin, b};
  auto q = device_->pipelines(second);
  ASSERT_TRUE(q.ok());
  EXPECT_EQ(q->at(1), p->at(1));
  EXPECT_EQ(device_->counters().pipelines_created, 3u);
  EXPECT_TRUE(device_->pipelines({})->empty());
}

TEST_P(DeviceMasks, WhatIsNotSpirvIsRefused) {
  const std::vector<uint32_t> garbage(100, 0xdeadbeef);
  for (const PipelineRequest& q :
       {PipelineRequest{garbage.data(), garbage.size(), "garbage", {}}, PipelineRequest{nullptr, 0, "nothing", {}}}) {
    auto p = device_->pipelines({&q, 1});
    ASSERT_FALSE(p.ok());
    EXPECT_THAT(p.error().message, HasSubstr(q.name));
  }
}

TEST_P(DeviceMasks, BadBindingsAreRefused) {
  auto arena = DescriptorArena::create(device_, 2);
  ASSERT_TRUE(arena.ok());
  Buffer b = buffer(100000);
  const Buffer none;
  const Capabilities& caps = device_->caps();
  const std::pair<BufferBinding, const char*> cases[] = {
      {{kBindings, &b, 0, 4}, "does not exist"},
      {{8, &b, 0, 4}, has_most_bindings(caps) ? "" : "does not exist"},
      {{kTexelBinding, &b, 0, 8}, caps.texels ? "whole texels" : "does not exist"},
      {{kTexelBinding, &b, 4, 16}, caps.texels ? "is not aligned" : ""},
      {{0, nullptr, 0, 4}, "has no buffer"},
      {{0, &none, 0, 4}, "has no buffer"},
      {{0, &b, 0, 0}, "lies outside"},
      {{0, &b, 99840, 1000}, "lies outside"},
      {{0, &b, ~uint64_t{255}, 4}, "lies outside"},
      {{0, &b, caps.storage_alignment / 2, 4}, caps.storage_alignment > 1 ? "is not aligned" : ""},
      {{4, &b, 0, caps.max_uniform_range + 1}, caps.max_uniform_range < 100000 ? "is larger" : ""},
  };
  for (const auto& [binding, why] : cases) {
    if (!*why) continue;
    auto set = arena->write({&binding, 1});
    ASSERT_FALSE(set.ok()) << why;
    EXPECT_THAT(set.error().message, HasSubstr(why));
  }
  const BufferBinding good[] = {{0, &b, 0, 256}, {kTexelBinding, &b, 0, 256}};
  const std::span some = std::span(good).first(caps.texels ? 2 : 1);
  EXPECT_TRUE(arena->write(some).ok());
  EXPECT_TRUE(arena->write(some).ok());
  EXPECT_FALSE(arena->write(some).ok());  // two sets were asked for
}

TEST_P(DeviceMasks, MistakesInARecordingAreFoundAtItsEnd) {
  auto work = Work::make(device_, 100);
  ASSERT_TRUE(work.ok());
  auto recording = CommandRecording::create(device_);
  ASSERT_TRUE(recording.ok());
  const CommandRecording* list[] = {&*recording};
  EXPECT_FALSE(device_->submit(list).ok());  // nothing recorded
  EXPECT_FALSE(recording->end().ok());       // not open
  const auto mistake = [&](auto record, const char* what) {
    ASSERT_TRUE(recording->begin().ok());
    record();
    const Status s = recording->end();
    ASSERT_FALSE(s.ok());
    EXPECT_THAT(s.error().message, HasSubstr(what));
    EXPECT_FALSE(device_->submit(list).ok());
  };
  const Buffer b = buffer(64);
  mistake([&] { recording->dispatch(device_->caps().max_group_count[0] + 1, 1, 1); }, "above the device's");
  mistake([&] { recording->bind(nullptr, nullptr, {}); }, "needs a pipeline");
  mistake([&] { recording->copy(b, 0, b, 60, 8); }, "leaves its buffers");
  mistake([&] { recording->copy(Buffer(), 0, b, 0, 8); }, "has no buffer");
  mistake([&] { recording->fill(b, 2, 4, 0); }, "splits a word");
  mistake([&] { recording->dispatch_indirect(b, 56); }, "leave their buffer");
  // The same recording is good again.
  ASSERT_TRUE(recording->begin().ok());
  recording->fill(b, 0, 64, 0x01020304);
  ASSERT_TRUE(recording->end().ok());
  auto ticket = device_->submit(list);
  ASSERT_TRUE(ticket.ok());
  ASSERT_TRUE(device_->wait(*ticket).ok());
  std::vector<uint32_t> words(16);
  ASSERT_TRUE(device_->read(b, 0, std::as_writable_bytes(std::span(words))).ok());
  EXPECT_EQ(words, std::vector<uint32_t>(16, 0x01020304));
}

TEST_P(DeviceMasks, AShaderMayWriteTheArgumentsOfTheNextDispatch) {
  constexpr uint32_t rounds = 6;
  Buffer arguments = buffer(12), count = buffer(4), copy = buffer(4, MemoryUse::readback);
  ASSERT_TRUE(device_->zero(count).ok());
  const std::vector<uint32_t> first{1, 1, 1};
  ASSERT_TRUE(device_->write(arguments, 0, bytes_of(first)).ok());
  const PipelineRequest request{spv_indirect, std::size(spv_indirect), "indirect", {}};
  auto p = device_->pipelines({&request, 1});
  ASSERT_TRUE(p.ok()) << p.error().message;
  auto arena = DescriptorArena::create(device_, 1);
  ASSERT_TRUE(arena.ok());
  const BufferBinding bindings[] = {{0, &arguments, 0, 12}, {1, &count, 0, 4}};
  auto set = arena->write(bindings);
  ASSERT_TRUE(set.ok());
  auto commands = CommandRecording::create(device_);
  ASSERT_TRUE(commands.ok());
  ASSERT_TRUE(commands->begin().ok());
  for (uint32_t i = 0; i < rounds; ++i) {
    // Each of the groups adds one; the mode that follows doubles the number of groups.
    for (const uint32_t mode : {0u, 1u}) {
      commands->bind(p->at(0), *set, std::as_bytes(std::span(&mode, 1)));
      if (mode == 0)
        commands->dispatch_indirect(arguments, 0);
      else
        commands->dispatch(1, 1, 1);
      commands->barrier({.indirect = mode == 1, .transfer = mode == 1 && i + 1 == rounds});
    }
  }
  commands->copy(count, 0, copy, 0, 4);
  ASSERT_TRUE(commands->end().ok());
  const CommandRecording* list[] = {&*commands};
  auto ticket = device_->submit(list);
  ASSERT_TRUE(ticket.ok());
  ASSERT_TRUE(device_->wait(*ticket).ok());
  ASSERT_TRUE(copy.invalidate(0, 4).ok());
  uint32_t total = 0;
  std::memcpy(&total, copy.mapped(), 4);
  EXPECT_EQ(total, (1u << rounds) - 1);
}

TEST_P(DeviceMasks, TimestampsGrow) {
  auto work = Work::make(device_, 1000);
  ASSERT_TRUE(work.ok());
  auto recording = CommandRecording::create(device_);
  ASSERT_TRUE(recording.ok());
  ASSERT_TRUE(recording->enable_timestamps(2).ok());
  ASSERT_TRUE(recording->begin().ok());
  recording->timestamp(0);
  recording->fill(work->y, 0, 4000, 1);
  recording->timestamp(1);
  ASSERT_TRUE(recording->end().ok());
  const CommandRecording* list[] = {&*recording};
  auto ticket = device_->submit(list);
  ASSERT_TRUE(ticket.ok());
  ASSERT_TRUE(device_->wait(*ticket).ok());
  auto times = recording->read_timestamps_ns();
  ASSERT_TRUE(times.ok());
  if (!device_->caps().timestamps) {
    EXPECT_TRUE(times->empty());
  } else {
    ASSERT_EQ(times->size(), 2u);
    EXPECT_GE(times->at(1), times->at(0));
  }
}

TEST_P(DeviceMasks, MemoryIsCounted) {
  const uint64_t left = device_->memory_left();
  EXPECT_GT(left, 0u);
  {
    Buffer b = buffer(40 << 20);
    const auto c = device_->counters();
    EXPECT_GE(c.device_bytes, uint64_t{40} << 20);
    EXPECT_EQ(c.buffers, 1u);
    EXPECT_GE(c.allocations, 1u);
  }
  EXPECT_GE(device_->counters().device_bytes_peak, uint64_t{40} << 20);
}

TEST_P(DeviceMasks, TicketsOfTheFutureAreErrors) {
  EXPECT_EQ(device_->wait(1).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(device_->done(1).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(device_->wait(0).ok());
}

TEST_P(DeviceMasks, ObjectsKeepTheDeviceAlive) {
  auto work = Work::make(device_, 100);
  ASSERT_TRUE(work.ok());
  Work moved = std::move(*work);
  device_.reset();
  EXPECT_TRUE(moved.run().ok());
  moved.device.reset();
}

INSTANTIATE_TEST_SUITE_P(, DeviceMasks,
                         testing::Values("full", "floor", "no-timeline", "staging", "staging,no-timeline"),
                         [](const auto& test) {
                           std::string s = test.param;
                           for (char& c : s) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return s;
                         });

TEST(DeviceList, OneIsChosenAndSaysWhy) {
  auto list = list_devices({});
  ASSERT_TRUE(list.ok()) << list.error().message;
  size_t chosen = 0;
  for (const DeviceInfo& d : *list) {
    chosen += d.chosen;
    EXPECT_NE(d.score_reason, "");
    EXPECT_EQ(d.chosen, d.refusal.empty());
    EXPECT_TRUE(capabilities_from_json(to_json(d.caps)).ok())
        << capabilities_from_json(to_json(d.caps)).error().message;
  }
  EXPECT_EQ(chosen, 1u);
}

TEST(DeviceList, AnUnknownNameStillLists) {
  DeviceOptions options;
  options.select = "no such GPU";
  auto list = list_devices(options);
  ASSERT_TRUE(list.ok());
  for (const DeviceInfo& d : *list) EXPECT_FALSE(d.chosen);
  auto device = Device::create(options);
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::no_device);
  EXPECT_THAT(device.error().message, HasSubstr("no such GPU"));
}

TEST(DeviceList, AnUnknownMaskIsAnError) {
  DeviceOptions options;
  options.mask = "tiny";
  auto device = Device::create(options);
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::invalid_argument);
}

// Collects what is said while it lives.
class LogCapture {
 public:
  LogCapture() {
    set_log_hook([this](LogLevel level, const std::string& text) { lines_.emplace_back(level, text); });
  }
  ~LogCapture() { set_log_hook({}); }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;
  [[nodiscard]] const std::vector<std::pair<LogLevel, std::string>>& lines() const { return lines_; }

 private:
  std::vector<std::pair<LogLevel, std::string>> lines_;
};

TEST(DeviceNote, ACpuDriverIsNotedOnceUnlessItWasAskedFor) {
  const LogCapture captured;
  auto device = Device::create({});
  ASSERT_TRUE(device.ok());
  const bool cpu = (*device)->caps().type == DeviceType::cpu;
  ASSERT_EQ(captured.lines().size(), cpu ? 1u : 0u);
  if (cpu) {
    EXPECT_EQ(captured.lines()[0].first, LogLevel::note);
    EXPECT_THAT(captured.lines()[0].second, HasSubstr((*device)->caps().device_name));
  }
  ASSERT_TRUE(Device::create({.select = (*device)->caps().device_name}).ok());
  ASSERT_TRUE(Device::create({}).ok());  // as for a program's second model
  EXPECT_EQ(captured.lines().size(), cpu ? 1u : 0u);
  const LogCapture another;  // a new reader
  ASSERT_TRUE(Device::create({}).ok());
  EXPECT_EQ(another.lines().size(), cpu ? 1u : 0u);
}

TEST(DeviceValidation, SaysNothingAboutGoodWork) {
  const LogCapture captured;
  auto device = Device::create({.select = "0", .validation = true});
  ASSERT_TRUE(device.ok()) << device.error().message;
  auto work = Work::make(*device, 1000);
  ASSERT_TRUE(work.ok());
  EXPECT_TRUE(work->run().ok());
  for (const auto& [level, text] : captured.lines()) EXPECT_THAT(text, HasSubstr("is not installed"));
}

}  // namespace
}  // namespace lapilli::vulkan
