// Where numbers of a packed matrix lie, and what packing makes of them.
#include "ops/core/weight_layout.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "base/half.hpp"

namespace lapilli {
namespace {

constexpr WeightFormat kAll[] = {WeightFormat::fp32, WeightFormat::bf16, WeightFormat::fp16, WeightFormat::int8,
                                 WeightFormat::int4};

TEST(WeightLayout, EveryNumberHasBitsOfItsOwn) {
  for (const WeightFormat format : kAll)
    for (const uint64_t n : {1, 32, 33})
      for (const uint64_t k : {1, 3, 4, 66}) {
        const WeightLayout layout(n, k, format);
        std::set<std::pair<uint64_t, uint64_t>> taken;
        for (uint64_t c = 0; c < n; ++c) {
          for (uint64_t d = 0; d < k; ++d) EXPECT_TRUE(taken.emplace(layout.word(c, d), layout.shift(d)).second);
          EXPECT_TRUE(taken.emplace(layout.bias_word(c), 0).second);
        }
        for (uint64_t c = 0; c < n && packed::has_scales(format); ++c)
          for (uint64_t d = 0; d < k; d += packed::kBlock)
            EXPECT_TRUE(taken.emplace(layout.scale_word(c, d), 0).second);
        EXPECT_LT(taken.rbegin()->first, layout.words());
        EXPECT_LT(layout.word(n - 1, k - 1), layout.bias_begin());
      }
}

TEST(WeightLayout, SixteenBitsTakeHalf) {
  for (const WeightFormat format : {WeightFormat::bf16, WeightFormat::fp16})
    EXPECT_EQ(WeightLayout(512, 2048, format).bias_begin() * 2, WeightLayout(512, 2048).bias_begin());
}

TEST(WeightLayout, EightBitsTakeNineOf32) {
  EXPECT_EQ(WeightLayout(512, 2048, WeightFormat::int8).bias_begin() * 32, WeightLayout(512, 2048).bias_begin() * 9);
}

TEST(WeightLayout, FourBitsTakeFiveOf32) {
  EXPECT_EQ(WeightLayout(512, 2048, WeightFormat::int4).bias_begin() * 32, WeightLayout(512, 2048).bias_begin() * 5);
}

// Half a step of the block's scale, however small the other blocks are.
TEST(WeightLayout, ScaledNumbersAreTheNearestOnes) {
  constexpr uint64_t n = 3, k = 77;
  const WeightLayout fp32(n, k);
  std::vector<float> values(fp32.words(), 0.0f);
  std::vector<float> low(n * 3, INFINITY), high(n * 3, -INFINITY);
  for (uint64_t c = 0; c < n; ++c)
    for (uint64_t d = 0; d < k; ++d) {
      // Around 0, and in the last column far from it.
      const float v =
          (std::sin(static_cast<float>(c * k + d)) + (c == 2 ? 9.0f : 0)) * std::pow(10.0f, static_cast<float>(d / 32));
      const uint64_t block = c * 3 + d / 32;
      values[fp32.word(c, d)] = v;
      low[block] = std::min(low[block], v);
      high[block] = std::max(high[block], v);
    }
  for (const WeightFormat format : {WeightFormat::int8, WeightFormat::int4}) {
    const WeightLayout layout(n, k, format);
    const auto got = unpack_words(layout, pack_words(layout, values));
    for (uint64_t c = 0; c < n; ++c)
      for (uint64_t d = 0; d < k; ++d) {
        const uint64_t block = c * 3 + d / 32;
        const auto lowest = static_cast<double>(low[block]), highest = static_cast<double>(high[block]);
        // int4: scale and minimum are bf16, so that both may be off by one in 128 to where nothing is cut.
        const double step = format == WeightFormat::int8
                                ? std::max(std::abs(lowest), std::abs(highest)) / 127
                                : (highest - lowest + std::abs(lowest) / 128) / 15 * (1 + 1.0 / 128);
        EXPECT_LE(std::abs(got[fp32.word(c, d)] - static_cast<double>(values[fp32.word(c, d)])), step / 2 * 1.000001)
            << name(format) << " column " << c << " depth " << d;
      }
  }
}

TEST(WeightLayout, ScaledBitsOfInt8) {
  constexpr WeightFormat kInt8 = WeightFormat::int8;
  const auto bits = [&](float value, uint32_t scales) { return scaled_bits(kInt8, value, scales); };
  const uint32_t scale = scales_of(kInt8, -127, 3);
  EXPECT_EQ(std::bit_cast<float>(scale), 1.0f);
  EXPECT_EQ(bits(0, scale), 0u);
  EXPECT_EQ(bits(127, scale), 127u);
  EXPECT_EQ(bits(-127, scale), 0x81u);
  EXPECT_EQ(bits(2.5f, scale), 3u);  // the larger one of two
  EXPECT_EQ(bits(-2.5f, scale), 0xfdu);
  EXPECT_EQ(bits(2.49f, scale), 2u);
  EXPECT_EQ(bits(1e30f, scale), 127u);
  EXPECT_EQ(bits(1, scales_of(kInt8, 0, 1e-37f)), 0u);  // there is next to nothing to hold
  EXPECT_EQ(bits(std::nanf(""), scale), 0u);
  EXPECT_EQ(scaled_value(kInt8, 0x81u, std::bit_cast<uint32_t>(0.5f)), -63.5);
}

TEST(WeightLayout, ScaledBitsOfInt4) {
  constexpr WeightFormat kInt4 = WeightFormat::int4;
  const auto bits = [&](float value, uint32_t scales) { return scaled_bits(kInt4, value, scales); };
  const uint32_t scales = scales_of(kInt4, -8, 7);
  EXPECT_EQ(scales, 0xc1003f80u);  // minimum -8, scale 1
  EXPECT_EQ(bits(-8, scales), 0u);
  EXPECT_EQ(bits(0, scales), 8u);
  EXPECT_EQ(bits(7, scales), 15u);
  EXPECT_EQ(bits(-5.5f, scales), 3u);  // the larger one of two
  EXPECT_EQ(bits(-5.51f, scales), 2u);
  EXPECT_EQ(bits(-1e30f, scales), 0u);
  EXPECT_EQ(bits(1e30f, scales), 15u);
  EXPECT_EQ(bits(std::nanf(""), scales), 0u);
  EXPECT_EQ(scaled_value(kInt4, 15, scales), 7.0);
  EXPECT_EQ(scales_of(kInt4, 1e-37f, 2e-37f), 0u);
  EXPECT_EQ(scales_of(kInt4, 3, 3), 0x40400000u);  // all the same, which bf16 holds
  EXPECT_EQ(scaled_value(kInt4, bits(3, 0x40400000u), 0x40400000u), 3.0);
  // The ends of what floats hold: no sum is infinite.
  const float most = std::numeric_limits<float>::max();
  EXPECT_TRUE(std::isfinite(scaled_value(kInt4, 15, scales_of(kInt4, -most, most))));
  EXPECT_EQ(bits(most, scales_of(kInt4, -most, most)), 15u);
}

TEST(WeightLayout, PackedNumbersAreTheNearestOnes) {
  const WeightLayout fp32(35, 7);
  std::vector<float> values(fp32.words(), 0.0f);
  for (uint64_t c = 0; c < 35; ++c) {
    for (uint64_t d = 0; d < 7; ++d) values[fp32.word(c, d)] = std::sin(static_cast<float>(c * 7 + d));
    values[fp32.bias_word(c)] = static_cast<float>(c) / 3;
  }
  for (const WeightFormat format : {WeightFormat::fp32, WeightFormat::bf16, WeightFormat::fp16}) {
    const double steps = format == WeightFormat::fp32 ? INFINITY : format == WeightFormat::bf16 ? 512 : 4096;
    const WeightLayout layout(35, 7, format);
    const auto got = unpack_words(layout, pack_words(layout, values));
    for (uint64_t c = 0; c < 35; ++c) {
      for (uint64_t d = 0; d < 7; ++d) {
        const double want = static_cast<double>(values[fp32.word(c, d)]);
        EXPECT_LE(std::abs(got[fp32.word(c, d)] - want), std::abs(want) * 2 / steps) << name(format);
      }
      EXPECT_EQ(got[fp32.bias_word(c)], static_cast<double>(values[fp32.bias_word(c)]));
    }
  }
}

TEST(WeightLayout, RoundsToNearestEven) {
  const auto bf16 = [](float f) { return weight_value(WeightFormat::bf16, weight_bits(WeightFormat::bf16, f)); };
  EXPECT_EQ(bf16(1.0f + 1.0f / 256), 1.0f);              // the middle, down to even
  EXPECT_EQ(bf16(1.0f + 3.0f / 256), 1.0f + 1.0f / 64);  // and up to even
  EXPECT_EQ(bf16(std::nextafter(1.0f + 1.0f / 256, 2.0f)), 1.0f + 1.0f / 128);
  EXPECT_EQ(bf16(-0.0f), 0.0f);
  EXPECT_EQ(bf16(std::numeric_limits<float>::max()), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(bf16(std::bit_cast<float>(0x7f800001u))));
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const float f = bfloat16_to_float(static_cast<uint16_t>(h));
    if (!std::isnan(f)) {
      ASSERT_EQ(weight_bits(WeightFormat::bf16, f), h);
    }
  }
}

TEST(WeightLayout, FormatsHaveNames) {
  for (const WeightFormat format : kAll) {
    const auto parsed = parse_format(name(format));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, format);
    EXPECT_EQ(format_of(dtype_of(format)), format);
  }
  const auto automatic = parse_format("auto");
  ASSERT_TRUE(automatic.ok());
  EXPECT_FALSE(automatic->has_value());
  const auto unknown = parse_format("int3");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("int3"), std::string::npos);
}

}  // namespace
}  // namespace lapilli
