// The device layer on whatever device there is: buffers, pipelines, recordings, submissions.
#include "vulkan/device.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "vulkan/affine.spv.h"
#include "vulkan/spin.spv.h"

namespace lapilli::vulkan {
namespace {

template <class T>
std::span<const std::byte> bytes_of(const T& v) {
  return std::as_bytes(std::span(v));
}

struct Push {
  uint32_t push, n;
};

// Runs once per way that memory and the queue can work.
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
  const Pipeline* affine(uint32_t scale, uint32_t bias) {
    const PipelineRequest q{spv_affine, std::size(spv_affine), "affine", {scale, bias}};
    auto p = device_->pipelines({&q, 1});
    EXPECT_TRUE(p.ok()) << p.error().message;
    return p ? p->at(0) : nullptr;
  }
  std::shared_ptr<Device> device_;
};

TEST_P(DeviceMasks, ShaderReadsAndWrites) {
  constexpr uint32_t n = 1000;
  std::vector<uint32_t> x(n), y(n);
  std::iota(x.begin(), x.end(), 7u);
  Buffer in = buffer(n * 4), out = buffer(n * 4), uniform = buffer(4, MemoryUse::upload);
  const uint32_t offset = 1000;
  ASSERT_TRUE(device_->write(in, 0, bytes_of(x)).ok());
  ASSERT_TRUE(device_->zero(out).ok());
  ASSERT_TRUE(device_->write(uniform, 0, std::as_bytes(std::span(&offset, 1))).ok());
  const Pipeline* p = affine(3, 5);
  auto arena = DescriptorArena::create(device_, 1);
  ASSERT_TRUE(arena.ok()) << arena.error().message;
  const BufferBinding bindings[] = {{0, &in, 0, n * 4}, {1, &out, 0, n * 4}, {4, &uniform, 0, 4}};
  auto set = arena->write(bindings);
  ASSERT_TRUE(set.ok()) << set.error().message;
  auto commands = CommandRecording::create(device_);
  ASSERT_TRUE(commands.ok());
  ASSERT_TRUE(commands->begin().ok());
  const Push push{20, n};
  commands->bind(p, *set, std::as_bytes(std::span(&push, 1)));
  commands->dispatch((n + 63) / 64, 1, 1);
  ASSERT_TRUE(commands->end().ok());
  const CommandRecording* list[] = {&*commands};
  auto ticket = device_->submit(list);
  ASSERT_TRUE(ticket.ok()) << ticket.error().message;
  ASSERT_TRUE(device_->wait(*ticket).ok());
  EXPECT_TRUE(*device_->done(*ticket));
  ASSERT_TRUE(device_->read(out, 0, std::as_writable_bytes(std::span(y))).ok());
  for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(y[i], x[i] * 3 + 5 + 1000 + 20) << i;
}

INSTANTIATE_TEST_SUITE_P(, DeviceMasks, testing::Values("full", "floor", "no-timeline", "staging", "staging,no-timeline"),
                         [](const auto& test) {
                           std::string s = test.param;
                           for (char& c : s) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return s;
                         });

}  // namespace
}  // namespace lapilli::vulkan
