#include "base/half.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace lapilli {
namespace {

TEST(Half, EveryValueSurvivesARoundTrip) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const float f = half_to_float(static_cast<uint16_t>(h));
    if (std::isnan(f)) continue;
    EXPECT_EQ(float_to_half(f), h);
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(float_to_half(1.0f + 0x1p-11f), 0x3c00);      // halfway: to even
  EXPECT_EQ(float_to_half(1.0f + 3 * 0x1p-11f), 0x3c02);  // halfway: to even, upwards
  EXPECT_EQ(float_to_half(65504.0f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(0x1p-25f), 0x0000);
  EXPECT_EQ(float_to_half(0x1.8p-25f), 0x0001);
  EXPECT_EQ(float_to_half(-2.0f), 0xc000);
}

TEST(Bfloat16, IsTheUpperHalf) { EXPECT_EQ(bfloat16_to_float(0x3fc0), 1.5f); }

}  // namespace
}  // namespace lapilli
