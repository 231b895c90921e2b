// Weights on the device against a packing done by hand on the host: every stored format, parts that share a matrix,
// tensors larger than the staging buffer. Exact: conversion to float is.
#include "runtime/weights/weights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/half.hpp"
#include "support/counting_vulkan.hpp"
#include "support/fixtures.hpp"
#include "support/real_events.hpp"

namespace lapilli {
namespace {

using testing::HasSubstr;

// Values as a checkpoint stores them, and what they are worth.
struct Stored {
  std::vector<std::byte> bytes;
  std::vector<float> values;
};

Stored random_stored(StoredFormat format, uint64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Stored s;
  for (uint64_t i = 0; i < count; ++i) {
    const float f = static_cast<float>(static_cast<int32_t>(random())) * 0x1p-30f;
    const size_t at = s.bytes.size();
    if (format == StoredFormat::f32) {
      s.bytes.resize(at + 4);
      std::memcpy(&s.bytes[at], &f, 4);
      s.values.push_back(f);
      continue;
    }
    const auto bits =
        format == StoredFormat::f16 ? float_to_half(f) : static_cast<uint16_t>(std::bit_cast<uint32_t>(f) >> 16);
    s.bytes.resize(at + 2);
    std::memcpy(&s.bytes[at], &bits, 2);
    s.values.push_back(format == StoredFormat::f16 ? half_to_float(bits) : bfloat16_to_float(bits));
  }
  return s;
}

struct Shape {
  uint64_t rows = 0, k = 0;
};

WeightPart part(const Stored& s, WeightPart::Kind kind, StoredFormat format, Shape shape) {
  WeightPart p;
  p.kind = kind;
  p.format = format;
  p.rows = shape.rows;
  p.k = shape.k;
  p.bytes = [&s](uint64_t offset, uint64_t bytes) {
    const auto rest = std::span<const std::byte>(s.bytes).subspan(std::min<uint64_t>(offset, s.bytes.size()));
    return rest.first(std::min<uint64_t>(bytes, rest.size()));
  };
  return p;
}

class DeviceWeights : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    counting::reset();
    vulkan::DeviceOptions options;
    options.mask = GetParam();
    options.max_submit_us = 1'000'000'000;  // what is counted does not depend on how busy the machine is
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    LAPILLI_ASSERT_VALUE(device_, vulkan::Device::create(options));
    trace_ = vulkan::Trace::begin(*device_);
  }
  // Whatever was loaded, also where it failed half way.
  void TearDown() override { LAPILLI_EXPECT_OK(testing_support::check_events(*trace_)); }
  // Into memory that holds no zeros.
  Result<std::shared_ptr<const Weights>> load(std::span<const WeightSource> sources) {
    LAPILLI_TRY(const auto all, device_->make_buffer(uint64_t{7} << 20, vulkan::MemoryUse::device, "garbage"));
    LAPILLI_TRY(auto recording, vulkan::CommandRecording::create(device_));
    LAPILLI_CHECK(recording.begin());
    recording.fill(all, 0, all.size(), 0x7fc0ffee);
    LAPILLI_CHECK(recording.end());
    const vulkan::CommandRecording* list[] = {&recording};
    LAPILLI_TRY(const auto ticket, device_->submit(list));
    LAPILLI_CHECK(device_->wait(ticket));
    before_ = device_->counters();
    return Weights::load(device_, sources);
  }
  uint64_t submissions() const { return device_->counters().submissions - before_.submissions; }
  uint64_t waits() const { return device_->counters().waits - before_.waits; }
  void expect_words(const Weights& weights, uint32_t index, const std::vector<float>& want) {
    const BufferRef ref = weights.find(index);
    ASSERT_NE(ref.buffer, nullptr);
    ASSERT_EQ(ref.size, want.size() * 4);
    std::vector<float> got(want.size());
    LAPILLI_ASSERT_OK(device_->read(*ref.buffer, ref.offset, std::as_writable_bytes(std::span(got))));
    if (std::memcmp(got.data(), want.data(), ref.size) == 0) return;  // millions of words
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(want[i])) << "word " << i << " of " << index;
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<vulkan::Trace> trace_;
  vulkan::DeviceCounters before_;  // the last load
};

// The words of a matrix in a format, from those in fp32.
std::vector<float> in_format(const WeightLayout& layout, const std::vector<float>& fp32) {
  const auto packed = pack_words(layout, fp32);
  std::vector<float> words(packed.size());
  std::memcpy(words.data(), packed.data(), words.size() * sizeof(float));
  return words;
}

constexpr WeightFormat kWeightFormats[] = {WeightFormat::fp32, WeightFormat::bf16, WeightFormat::fp16,
                                           WeightFormat::int8, WeightFormat::int4};
constexpr StoredFormat kFormats[] = {StoredFormat::f32, StoredFormat::f16, StoredFormat::bf16};

TEST_P(DeviceWeights, MatrixOfSeveralPartsWithBiases) {
  // Like q, k and v: q in front, keys and values side by side by head behind it.
  constexpr uint32_t d = 39, head = 13, n = 3 * d, k = 39;
  for (const StoredFormat format : kFormats) {
    std::vector<Stored> matrices, biases;
    for (uint32_t i = 0; i < 3; ++i) {
      matrices.push_back(random_stored(format, uint64_t{d} * k, 10 + i));
      biases.push_back(random_stored(format, d, 20 + i));
    }
    WeightSource source{"qkv", WeightLayout(n, k).words(), n, k, {}, {}};
    std::vector<float> want(source.words, 0.0f);
    for (uint32_t i = 0; i < 3; ++i) {
      for (const bool bias : {false, true}) {
        WeightPart p = part(bias ? biases[i] : matrices[i], bias ? WeightPart::Kind::bias : WeightPart::Kind::matrix,
                            format, {d, bias ? 1 : uint64_t{k}});
        p.first_column = i == 0 ? 0 : d + (i - 1) * head;
        p.group = i == 0 ? 1 : head;
        p.group_stride = i == 0 ? 1 : 2 * head;
        source.parts.push_back(p);
        for (uint32_t r = 0; r < d; ++r) {
          const uint32_t column = p.first_column + r / p.group * p.group_stride + r % p.group;
          if (bias)
            want[WeightLayout(n, k).bias_word(column)] = biases[i].values[r];
          else
            for (uint32_t c = 0; c < k; ++c) want[WeightLayout(n, k).word(column, c)] = matrices[i].values[r * k + c];
        }
      }
    }
    for (const WeightFormat held : kWeightFormats) {
      source.format = held;
      source.words = source.layout().words();
      LAPILLI_ASSERT_VALUE(const auto weights, load({&source, 1}));
      EXPECT_EQ(weights->bytes(), source.words * 4);
      expect_words(*weights, 0, in_format(source.layout(), want));
    }
  }
}

TEST_P(DeviceWeights, LargerThanTheStagingBuffer) {
  // 17 million bytes of floats; the odd depth makes 16-bit rows begin in the middle of words.
  const Shape shape{10007, 431};
  for (const StoredFormat format : kFormats) {
    const Stored matrix = random_stored(format, shape.rows * shape.k, 5);
    const auto n = static_cast<uint32_t>(shape.rows), k = static_cast<uint32_t>(shape.k);
    WeightSource source{"large", WeightLayout(n, k).words(), n, k, {}, {}};
    source.parts.push_back(part(matrix, WeightPart::Kind::matrix, format, shape));
    std::vector<float> want(source.words, 0.0f);
    for (uint32_t r = 0; r < n; ++r)
      for (uint32_t c = 0; c < k; ++c) want[WeightLayout(n, k).word(r, c)] = matrix.values[uint64_t{r} * k + c];
    for (const WeightFormat held : {WeightFormat::fp32, WeightFormat::fp16, WeightFormat::int8, WeightFormat::int4}) {
      source.format = held;
      source.words = source.layout().words();
      LAPILLI_ASSERT_VALUE(const auto weights, load({&source, 1}));
      expect_words(*weights, 0, in_format(source.layout(), want));
    }
  }
}

TEST_P(DeviceWeights, VectorsTablesAndManySources) {
  // A normalization of 33 (weight, padded, then bias), values from the host, and a vector longer than a small staging.
  const Stored w = random_stored(StoredFormat::f16, 33, 1), b = random_stored(StoredFormat::f16, 33, 2),
               longer = random_stored(StoredFormat::bf16, 40961, 3);
  std::vector<WeightSource> sources(3);
  sources[0] = {"norm", 72, 0, 0, {}, {}};
  sources[0].parts = {part(w, WeightPart::Kind::plain, StoredFormat::f16, {33, 1}),
                      part(b, WeightPart::Kind::plain, StoredFormat::f16, {33, 1})};
  sources[0].parts[1].destination = 36;
  sources[1] = {"values", 5, 0, 0, {}, {1, 2, 3, 4, 5}};
  sources[2] = {"longer", 40964, 0, 0, {part(longer, WeightPart::Kind::plain, StoredFormat::bf16, {40961, 1})}, {}};
  LAPILLI_ASSERT_VALUE(const auto weights, load(sources));
  std::vector<float> norm(72, 0.0f), padded(40964, 0.0f);
  std::copy(w.values.begin(), w.values.end(), norm.begin());
  std::copy(b.values.begin(), b.values.end(), norm.begin() + 36);
  std::copy(longer.values.begin(), longer.values.end(), padded.begin());
  expect_words(*weights, 0, norm);
  expect_words(*weights, 1, sources[1].values);
  expect_words(*weights, 2, padded);
  EXPECT_EQ(weights->find(3).buffer, nullptr);
}

TEST_P(DeviceWeights, OneSmallMatrixAlone) {
  const Stored row = random_stored(StoredFormat::f32, 64, 1);
  WeightSource source{"one row", WeightLayout(1, 64).words(), 1, 64, {}, {}};
  source.parts.push_back(part(row, WeightPart::Kind::matrix, StoredFormat::f32, {1, 64}));
  std::vector<float> want(source.words, 0.0f);
  for (uint32_t c = 0; c < 64; ++c) want[WeightLayout(1, 64).word(0, c)] = row.values[c];
  LAPILLI_ASSERT_VALUE(const auto weights, load({&source, 1}));
  expect_words(*weights, 0, want);
}

TEST_P(DeviceWeights, ErrorsNameTheTensorAndLeaveNothing) {
  const Stored matrix = random_stored(StoredFormat::f16, 6 * 8, 1);
  WeightSource source{"decoder.fc1", WeightLayout(6, 8).words(), 6, 8, {}, {}};
  source.parts.push_back(part(matrix, WeightPart::Kind::matrix, StoredFormat::f32, {6, 8}));
  auto wrong = load({&source, 1});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message, HasSubstr("decoder.fc1"));
  const auto before = counting::living();  // with what the device keeps for itself
  source.parts[0].bytes = [](uint64_t, uint64_t) -> Result<std::span<const std::byte>> {
    return fail(ErrorCode::not_found, "gone");
  };
  wrong = load({&source, 1});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::not_found);
  EXPECT_THAT(wrong.error().message, HasSubstr("gone"));
  // Wider than the staging buffer can be.
  const Stored wide = {std::vector<std::byte>(size_t{18} << 20), {}};
  source = {"wide", 32, 1, 9 << 20, {}, {}};  // refused before anything is packed
  source.parts.push_back(part(wide, WeightPart::Kind::matrix, StoredFormat::f16, {1, 9 << 20}));
  wrong = load({&source, 1});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message, HasSubstr("wide"));
  EXPECT_EQ(counting::living(), before);
}

// Matrices of their own columns without a bias, as a stored model's.
struct Matrices {
  Matrices(size_t count, Shape shape, StoredFormat format) : stored(random_stored(format, shape.rows * shape.k, 3)) {
    const auto n = static_cast<uint32_t>(shape.rows), k = static_cast<uint32_t>(shape.k);
    WeightSource source{"matrix", WeightLayout(n, k).words(), n, k, {}, {}};
    source.parts.push_back(part(stored, WeightPart::Kind::matrix, format, shape));
    sources.assign(count, source);
    want.assign(source.words, 0.0f);
    for (uint32_t r = 0; r < n; ++r)
      for (uint32_t c = 0; c < k; ++c) want[WeightLayout(n, k).word(r, c)] = stored.values[uint64_t{r} * k + c];
  }
  Matrices(const Matrices&) = delete;
  Matrices& operator=(const Matrices&) = delete;

  Stored stored;
  std::vector<WeightSource> sources;
  std::vector<float> want;
};

TEST_P(DeviceWeights, ManySmallOnesTakeFewSubmissions) {
  Matrices matrices(1000, {17, 24}, StoredFormat::bf16);
  LAPILLI_ASSERT_OK(load(matrices.sources));  // proves the kernels
  for (uint32_t i = 0; i < 500; ++i)
    matrices.sources.push_back({"values", 3, 0, 0, {}, {1.0f, 2.0f, static_cast<float>(i)}});
  LAPILLI_ASSERT_VALUE(const auto weights, load(matrices.sources));
  // 256 bytes for each row of three and 1 KiB for each matrix: 18 areas of 64 KiB and a remainder.
  const uint64_t rounds = device_->caps().max_storage_range < 1 << 20 ? 26 : 3;
  EXPECT_LE(submissions(), rounds);
  EXPECT_LE(waits(), rounds);
  EXPECT_LE(device_->counters().buffers - before_.buffers, matrices.sources.size() + 2);
  for (const uint32_t i : {0u, 63u, 64u, 999u}) expect_words(*weights, i, matrices.want);
  for (const uint32_t i : {0u, 499u}) expect_words(*weights, 1000 + i, {1.0f, 2.0f, static_cast<float>(i)});
}

TEST_P(DeviceWeights, TheHostReadsOnWhileTheDeviceUnpacks) {
  Matrices matrices(40, {256, 256}, StoredFormat::f16);  // more than an area of any device holds
  LAPILLI_ASSERT_OK(load(matrices.sources));             // proves the kernels
  uint64_t waited = ~uint64_t{0};                        // when the first part was asked for behind a submission
  for (WeightSource& source : matrices.sources)
    source.parts[0].bytes = [&](uint64_t offset, uint64_t bytes) -> Result<std::span<const std::byte>> {
      if (submissions() > 0 && waited == ~uint64_t{0}) waited = waits();
      return std::span<const std::byte>(matrices.stored.bytes).subspan(offset, bytes);
    };
  LAPILLI_ASSERT_VALUE(const auto weights, load(matrices.sources));
  EXPECT_EQ(waited, 0u);
  for (uint32_t i = 0; i < 40; ++i) expect_words(*weights, i, matrices.want);
}

TEST_P(DeviceWeights, OnlyPaddingIsFilled) {
  const auto filled = [&] { return device_->counters().filled_bytes - before_.filled_bytes; };
  Matrices none(3, {64, 64}, StoredFormat::f16);
  const Stored bias = random_stored(StoredFormat::f32, 64, 1);
  for (WeightSource& s : none.sources)
    s.parts.push_back(part(bias, WeightPart::Kind::bias, StoredFormat::f32, {64, 1}));
  LAPILLI_ASSERT_OK(load(none.sources));
  EXPECT_EQ(filled(), 0u);
  const Matrices some(2, {65, 40}, StoredFormat::f16);  // the last panel holds one column; no bias at all
  LAPILLI_ASSERT_OK(load(some.sources));
  EXPECT_EQ(filled(), 2 * 4 * (WeightLayout(64, 40).panel_words() + 3 * packed::kPanel));
}

std::vector<graph::Range> writes_of(const graph::Event& event) {
  std::vector<graph::Range> writes;
  for (const auto& command : event.commands)
    for (const auto& range : command.ranges)
      if (range.access == graph::Access::write) writes.push_back(range);
  return writes;
}
bool write_the_same(const graph::Event& a, const graph::Event& b) {
  for (const auto& first : writes_of(a))
    for (const auto& second : writes_of(b))
      if (graph::conflicts(first, second)) return true;
  return false;
}

// The faults that the checker must find: an area that is filled again while the device unpacks it, and padding that is
// filled over unpacked numbers.
TEST_P(DeviceWeights, WhatIsLeftOutIsFound) {
  using graph::Event;
  const bool small = device_->caps().max_storage_range < 1 << 20;
  const Matrices matrices(small ? 6 : 40, {210, 250}, StoredFormat::f16);  // several areas, and padding
  counting::hide_progress(true);                                           // what is done is learned by waits alone
  LAPILLI_ASSERT_OK(Weights::load(device_, matrices.sources));
  counting::hide_progress(false);
  LAPILLI_ASSERT_VALUE(const auto real, testing_support::RealEvents::of(trace_->events()));
  LAPILLI_ASSERT_OK(real.check());
  uint32_t waits_needed = 0, barriers_needed = 0;
  for (size_t i = 1; i < real.events.size(); ++i) {
    if (!real.touches(real.events[i], "weight staging")) continue;
    auto edited = real.events;
    const char* found = "no barrier stands between them";
    if (write_the_same(real.events[i - 1], real.events[i])) {
      edited[i].removed_barriers = {0};
      ++barriers_needed;
    } else if (real.events[i].kind == Event::Kind::host && real.events[i - 1].kind == Event::Kind::wait) {
      edited.erase(edited.begin() + static_cast<ptrdiff_t>(i) - 1);
      found = "no wait for ticket";
      ++waits_needed;
    } else {
      continue;
    }
    const Status s = real.check(edited);
    ASSERT_FALSE(s.ok()) << "event " << i;
    EXPECT_THAT(s.error().message, HasSubstr(found)) << "event " << i;
  }
  EXPECT_GT(barriers_needed, 0u);
  EXPECT_GT(waits_needed, 1u);
}

// Errors unwind whatever is in flight.
TEST_P(DeviceWeights, AnyCallMayFail) {
  const bool small = device_->caps().max_storage_range < 1 << 20;
  const Matrices matrices(small ? 3 : 24, {210, 250}, StoredFormat::f32);  // more than an area holds
  LAPILLI_ASSERT_OK(Weights::load(device_, matrices.sources));             // proves the kernels
  ASSERT_TRUE(device_->settle());
  const auto before = counting::living();
  uint64_t errors = 0;
  for (uint64_t nth = 1;; ++nth) {
    counting::fail("", VK_ERROR_OUT_OF_DEVICE_MEMORY, nth);
    const auto weights = Weights::load(device_, matrices.sources);
    const bool failed = counting::failed();
    counting::fail("", VK_SUCCESS, 0);
    if (!weights.ok()) {
      ++errors;
      EXPECT_EQ(weights.error().code, ErrorCode::out_of_memory) << weights.error().message;
      ASSERT_TRUE(device_->settle());
      EXPECT_EQ(counting::living(), before) << "after call " << nth << " failed";
    }
    if (failed) continue;
    ASSERT_TRUE(weights.ok()) << weights.error().message;
    for (uint32_t i = 0; i < matrices.sources.size(); ++i) expect_words(**weights, i, matrices.want);
    break;
  }
  EXPECT_GT(errors, 20u);
}

TEST_P(DeviceWeights, ADeviceMayBeLostInBetween) {
  const Matrices matrices(24, {210, 250}, StoredFormat::f32);
  LAPILLI_ASSERT_OK(Weights::load(device_, matrices.sources));
  counting::fail("vkQueueSubmit", VK_ERROR_DEVICE_LOST, 2);
  const auto weights = Weights::load(device_, matrices.sources);
  ASSERT_FALSE(weights.ok());
  EXPECT_EQ(weights.error().code, ErrorCode::device_lost);
}

INSTANTIATE_TEST_SUITE_P(Masks, DeviceWeights, testing::Values("full", "floor", "staging", "small-bindings"),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace lapilli
