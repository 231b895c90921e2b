// Weights on the device against a packing done by hand on the host: every stored format, parts that share a matrix,
// tensors larger than the staging buffer. Exact: conversion to float is.
#include "runtime/weights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/half.hpp"
#include "support/counting_vulkan.hpp"
#include "support/fixtures.hpp"

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
  std::normal_distribution<float> value;
  Stored s;
  for (uint64_t i = 0; i < count; ++i) {
    const float f = value(random);
    const size_t at = s.bytes.size();
    if (format == StoredFormat::f32) {
      s.bytes.resize(at + 4);
      std::memcpy(&s.bytes[at], &f, 4);
      s.values.push_back(f);
      continue;
    }
    const auto bits = format == StoredFormat::f16 ? float_to_half(f)
                                                  : static_cast<uint16_t>(std::bit_cast<uint32_t>(f) >> 16);
    s.bytes.resize(at + 2);
    std::memcpy(&s.bytes[at], &bits, 2);
    s.values.push_back(format == StoredFormat::f16 ? half_to_float(bits) : bfloat16_to_float(bits));
  }
  return s;
}

struct Shape {
  uint64_t rows = 0, k = 0;
};

WeightPiece piece(const Stored& s, WeightPiece::Kind kind, StoredFormat format, Shape shape) {
  WeightPiece p;
  p.kind = kind;
  p.format = format;
  p.rows = shape.rows;
  p.k = shape.k;
  p.bytes = [&s]() -> Result<std::span<const std::byte>> { return std::span<const std::byte>(s.bytes); };
  return p;
}

class DeviceWeights : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    vulkan::DeviceOptions options;
    options.mask = GetParam();
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    LAPILLI_ASSERT_VALUE(device_, vulkan::Device::create(options));
  }
  void expect_words(const Weights& weights, uint32_t index, const std::vector<float>& want) {
    const BufferRef ref = weights.find(index);
    ASSERT_NE(ref.buffer, nullptr);
    ASSERT_EQ(ref.size, want.size() * 4);
    std::vector<float> got(want.size());
    LAPILLI_ASSERT_OK(device_->read(*ref.buffer, ref.offset, std::as_writable_bytes(std::span(got))));
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(want[i])) << "word " << i << " of " << index;
  }
  std::shared_ptr<vulkan::Device> device_;
};

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
    WeightSource source{"qkv", packed::words(n, k), n, k, {}, {}};
    std::vector<float> want(source.words, 0.0f);
    for (uint32_t i = 0; i < 3; ++i) {
      for (const bool bias : {false, true}) {
        WeightPiece p = piece(bias ? biases[i] : matrices[i], bias ? WeightPiece::Kind::bias : WeightPiece::Kind::matrix,
                              format, {d, bias ? 1 : uint64_t{k}});
        p.first_column = i == 0 ? 0 : d + (i - 1) * head;
        p.group = i == 0 ? 1 : head;
        p.group_stride = i == 0 ? 1 : 2 * head;
        source.pieces.push_back(p);
        for (uint32_t r = 0; r < d; ++r) {
          const uint32_t column = p.first_column + r / p.group * p.group_stride + r % p.group;
          if (bias) want[packed::bias_word(column, n, k)] = biases[i].values[r];
          else
            for (uint32_t c = 0; c < k; ++c) want[packed::word(column, c, k)] = matrices[i].values[r * k + c];
        }
      }
    }
    LAPILLI_ASSERT_VALUE(const auto weights, Weights::load(device_, {&source, 1}));
    EXPECT_EQ(weights->bytes(), source.words * 4);
    expect_words(*weights, 0, want);
  }
}

TEST_P(DeviceWeights, LargerThanTheStagingBuffer) {
  // 17 million bytes of floats; the odd depth makes 16-bit rows begin in the middle of words.
  const Shape shape{10007, 431};
  for (const StoredFormat format : kFormats) {
    const Stored matrix = random_stored(format, shape.rows * shape.k, 5);
    const auto n = static_cast<uint32_t>(shape.rows), k = static_cast<uint32_t>(shape.k);
    WeightSource source{"large", packed::words(n, k), n, k, {}, {}};
    source.pieces.push_back(piece(matrix, WeightPiece::Kind::matrix, format, shape));
    std::vector<float> want(source.words, 0.0f);
    for (uint32_t r = 0; r < n; ++r)
      for (uint32_t c = 0; c < k; ++c) want[packed::word(r, c, k)] = matrix.values[uint64_t{r} * k + c];
    LAPILLI_ASSERT_VALUE(const auto weights, Weights::load(device_, {&source, 1}));
    expect_words(*weights, 0, want);
  }
}

TEST_P(DeviceWeights, VectorsTablesAndManySources) {
  // A normalization of 33 (weight, padded, then bias), values from the host, and a vector longer than a small staging.
  const Stored w = random_stored(StoredFormat::f16, 33, 1), b = random_stored(StoredFormat::f16, 33, 2),
               longer = random_stored(StoredFormat::bf16, 40961, 3);
  std::vector<WeightSource> sources(3);
  sources[0] = {"norm", 72, 0, 0, {}, {}};
  sources[0].pieces = {piece(w, WeightPiece::Kind::plain, StoredFormat::f16, {33, 1}),
                       piece(b, WeightPiece::Kind::plain, StoredFormat::f16, {33, 1})};
  sources[0].pieces[1].destination = 36;
  sources[1] = {"values", 5, 0, 0, {}, {1, 2, 3, 4, 5}};
  sources[2] = {"longer", 40964, 0, 0, {piece(longer, WeightPiece::Kind::plain, StoredFormat::bf16, {40961, 1})}, {}};
  LAPILLI_ASSERT_VALUE(const auto weights, Weights::load(device_, sources));
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
  WeightSource source{"one row", packed::words(1, 64), 1, 64, {}, {}};
  source.pieces.push_back(piece(row, WeightPiece::Kind::matrix, StoredFormat::f32, {1, 64}));
  std::vector<float> want(source.words, 0.0f);
  for (uint32_t c = 0; c < 64; ++c) want[packed::word(0, c, 64)] = row.values[c];
  LAPILLI_ASSERT_VALUE(const auto weights, Weights::load(device_, {&source, 1}));
  expect_words(*weights, 0, want);
}

TEST_P(DeviceWeights, ErrorsNameTheTensorAndLeaveNothing) {
  const Stored matrix = random_stored(StoredFormat::f16, 6 * 8, 1);
  WeightSource source{"decoder.fc1", packed::words(6, 8), 6, 8, {}, {}};
  source.pieces.push_back(piece(matrix, WeightPiece::Kind::matrix, StoredFormat::f32, {6, 8}));
  auto wrong = Weights::load(device_, {&source, 1});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message, HasSubstr("decoder.fc1"));
  const auto before = counting::living();  // with what the device keeps for itself
  source.pieces[0].bytes = []() -> Result<std::span<const std::byte>> { return fail(ErrorCode::not_found, "gone"); };
  wrong = Weights::load(device_, {&source, 1});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::not_found);
  EXPECT_THAT(wrong.error().message, HasSubstr("gone"));
  // Wider than the staging buffer can be.
  const Stored wide = random_stored(StoredFormat::f16, uint64_t{9} << 20, 1);
  source = {"wide", 32, 1, 9 << 20, {}, {}};  // refused before anything is packed
  source.pieces.push_back(piece(wide, WeightPiece::Kind::matrix, StoredFormat::f16, {1, 9 << 20}));
  wrong = Weights::load(device_, {&source, 1});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message, HasSubstr("wide"));
  EXPECT_EQ(counting::living(), before);
}

INSTANTIATE_TEST_SUITE_P(Masks, DeviceWeights, testing::Values("full", "floor", "staging", "small-bindings"),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace lapilli
